use foldwright_macros::Event;

#[derive(Event)]
#[event(crate = foldwright_domain, aggregate = Run, prefix = "ex.sim.run")]
#[upcast(from = "2025-01-01", to = "2026-03-01", with = widen)]
enum RunEvent {
    #[event(name = "queued", version = "2026-03-01")]
    Queued(u32),
}

fn main() {}
