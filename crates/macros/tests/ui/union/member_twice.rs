use foldwright_macros::Union;

#[derive(Union)]
#[union(crate = foldwright_domain)]
enum Billing {
    Run(RunEvent),
    Again(RunEvent),
}

fn main() {}
