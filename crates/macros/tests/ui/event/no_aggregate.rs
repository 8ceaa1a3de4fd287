use foldwright_macros::Event;

#[derive(Event)]
#[event(crate = foldwright_domain, prefix = "ex.sim.run")]
enum RunEvent {
    #[event(name = "queued", version = "2026-03-01")]
    Queued(u32),
}

fn main() {}
