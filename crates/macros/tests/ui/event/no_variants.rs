use foldwright_macros::Event;

#[derive(Event)]
#[event(crate = foldwright_domain, aggregate = Run, prefix = "ex.sim.run")]
enum RunEvent {
}

fn main() {}
