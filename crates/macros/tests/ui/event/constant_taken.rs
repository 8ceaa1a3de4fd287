use foldwright_macros::Event;

#[derive(Event)]
#[event(crate = foldwright_domain, aggregate = Run, prefix = "ex.sim.run")]
enum RunEvent {
    #[event(name = "a", version = "2026-03-01")]
    A(u32),
    #[event(name = "http_sent", version = "2026-03-01")]
    HTTPSent(u8),
    #[event(name = "sent", version = "2026-03-01")]
    HttpSent(u16),
}

fn main() {}
