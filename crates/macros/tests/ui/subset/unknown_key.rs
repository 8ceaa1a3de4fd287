use foldwright_macros::Subset;

#[derive(Subset)]
#[subset(parent = RunEvent)]
enum Lifecycle {
    Queued(u32),
}

fn main() {}
