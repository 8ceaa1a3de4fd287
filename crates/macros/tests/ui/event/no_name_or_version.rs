use foldwright_macros::Event;

#[derive(Event)]
#[event(crate = foldwright_domain, aggregate = Run, prefix = "ex.sim.run")]
enum RunEvent {
    #[event(version = "2026-03-01")]
    Queued(u32),
    #[event(name = "finished")]
    Finished(bool),
    Paused(u8),
}

fn main() {}
