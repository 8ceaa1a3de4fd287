use foldwright_macros::Subset;

#[derive(Subset)]
enum Lifecycle {
    Queued(u32),
}

fn main() {}
