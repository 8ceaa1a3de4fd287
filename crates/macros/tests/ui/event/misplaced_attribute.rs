use foldwright_macros::Event;

#[derive(Event)]
#[event(crate = foldwright_domain, aggregate = Run, prefix = "ex.sim.run")]
enum RunEvent {
    Queued(#[event(name = "queued", version = "2026-03-01")] u32),
}

fn main() {}
