use foldwright_macros::Subset;

#[derive(Subset)]
#[subset(of = RunEvent)]
enum Lifecycle {
    Queued,
}

#[derive(Subset)]
#[subset(of = RunEvent)]
enum Nothing {}

#[derive(Subset)]
#[subset(of = RunEvent)]
enum Generic<T> {
    Queued(T),
}

fn main() {}
