use foldwright_macros::Event;

#[derive(Event)]
#[event(crate = foldwright_domain, aggregate = Run, prefix = "ex.sim.run")]
enum RunEvent {
    #[event(name = "Queued", version = "2026-03-01")]
    Queued(u32),
    #[event(name = "run.finished", version = "2026-03-01")]
    Finished(bool),
    #[event(name = "", version = "2026-03-01")]
    Paused(u8),
}

fn main() {}
