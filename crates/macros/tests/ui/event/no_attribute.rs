use foldwright_macros::Event;

#[derive(Event)]
enum RunEvent {
    #[event(name = "queued", version = "2026-03-01")]
    Queued(u32),
}

fn main() {}
