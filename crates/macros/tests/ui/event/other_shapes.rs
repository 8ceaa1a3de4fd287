use foldwright_macros::Event;

#[derive(Event)]
#[event(crate = foldwright_domain, aggregate = Run, prefix = "ex.sim.run")]
enum RunEvent {
    #[event(name = "queued", version = "2026-03-01")]
    Queued,
    #[event(name = "finished", version = "2026-03-01")]
    Finished { passed: bool },
    #[event(name = "moved", version = "2026-03-01")]
    Moved(u32, u32),
}

fn main() {}
