use foldwright_macros::Union;

#[derive(Union)]
enum Billing {
    #[union(crate = foldwright_domain)]
    Run(RunEvent),
}

fn main() {}
