//! What a kernel shows of itself: traces and metrics.
mod completed;
mod counters;
mod leases;
mod series;
mod shown;
mod spans;
mod traces;

use crate::support::{All, Ear, Finish, Heard, Note, Odds, Run, Total, Totals};
use foldwright_domain::Dispatch;
use foldwright_runtime::Pipeline;
use std::sync::Arc;

fn pipeline(heard: &Arc<Heard<Total>>, dispatch: Dispatch) -> Pipeline<Run> {
    Pipeline::define("runs")
        .declares::<Note>()
        .command::<Finish>()
        .fold::<Totals>(|f| f.subscriber(Ear::<_, _, All>::new(heard), dispatch))
        .map::<Odds>(|m| m)
        .build()
        .unwrap()
}
