use foldwright_macros::Union;

#[derive(Union)]
enum Billing {
    Run { event: RunEvent },
}

#[derive(Union)]
enum Nothing {}

#[derive(Union)]
enum Generic<T> {
    Run(T),
}

fn main() {}
