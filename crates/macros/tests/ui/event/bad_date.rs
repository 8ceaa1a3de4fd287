use foldwright_macros::Event;

#[derive(Event)]
#[event(crate = foldwright_domain, aggregate = Run, prefix = "ex.sim.run")]
enum RunEvent {
    #[event(name = "queued", version = "2026-02-29")]
    Queued(u32),
    #[event(name = "finished", version = "v2")]
    Finished(bool),
}

fn main() {}
