#[path = "../it/support/runs.rs"]
#[allow(dead_code)]
mod runs;

use foldwright_ports::Ports;
use foldwright_runtime::Kernel;
use runs::Finish;

/// C-13
fn compose(ports: Ports) {
    Kernel::builder(ports);
    let _ = |finish: Finish| finish.times;
}

fn main() {}
