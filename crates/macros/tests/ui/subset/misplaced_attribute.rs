use foldwright_macros::Subset;

#[derive(Subset)]
#[subset(of = RunEvent)]
enum Lifecycle {
    #[subset(of = RunEvent)]
    Queued(u32),
}

fn main() {}
