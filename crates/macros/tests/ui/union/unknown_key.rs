use foldwright_macros::Union;

#[derive(Union)]
#[union(of = RunEvent)]
enum Billing {
    Run(RunEvent),
}

fn main() {}
