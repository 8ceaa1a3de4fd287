//! Upcast chains: from every older version there is one way, and it ends at the current version.

/// One upcast between two versions. Versions are dates, so text order is time order.
#[derive(Clone, Copy)]
pub(crate) struct Step<'a> {
    pub(crate) from: &'a str,
    pub(crate) to: &'a str,
}

/// What is wrong with a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// Another step leads from the same version.
    Fork,
    /// `from` is not earlier than `to`.
    Backwards,
    /// `from` is not earlier than `to`, and further steps lead back to it.
    Cycle,
    /// It leads away from the current version.
    FromCurrent,
    /// No step leads on from `to`, and it is not the current version.
    Hole,
}

/// How data of an older version becomes current: the steps to take, by their place in the list.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Route<'a> {
    pub(crate) from: &'a str,
    pub(crate) steps: Vec<usize>,
}

/// The route from every older version, oldest first; or the faulty steps, each with its first fault.
pub(crate) fn routes<'a>(current: &str, steps: &[Step<'a>]) -> Result<Vec<Route<'a>>, Vec<(usize, Fault)>> {
    let faults: Vec<_> = (0..steps.len())
        .filter_map(|at| fault(current, steps, at).map(|fault| (at, fault)))
        .collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut routes: Vec<_> = steps.iter().map(|step| route(steps, step.from)).collect();
    routes.sort_by_key(|route| route.from);
    Ok(routes)
}

fn fault(current: &str, steps: &[Step<'_>], at: usize) -> Option<Fault> {
    let step = steps.get(at)?;
    if steps.iter().take(at).any(|earlier| earlier.from == step.from) {
        return Some(Fault::Fork);
    }
    if step.from >= step.to {
        let circle = step.from != step.to && leads_back(steps, *step);
        return Some(if circle { Fault::Cycle } else { Fault::Backwards });
    }
    if step.from == current {
        return Some(Fault::FromCurrent);
    }
    let leads_on = step.to == current || steps.iter().any(|next| next.from == step.to);
    (!leads_on).then_some(Fault::Hole)
}

/// Every circle has a step that is not forward in time, so asking for those finds all.
fn leads_back(steps: &[Step<'_>], start: Step<'_>) -> bool {
    let mut version = start.to;
    for _ in steps {
        if version == start.from {
            return true;
        }
        match steps.iter().find(|step| step.from == version) {
            Some(step) => version = step.to,
            None => return false,
        }
    }
    false
}

/// Ends, because without faults each step is forward in time.
fn route<'a>(steps: &[Step<'_>], from: &'a str) -> Route<'a> {
    let mut route = Route {
        from,
        steps: Vec::new(),
    };
    let mut version = from;
    while let Some((at, step)) = steps.iter().enumerate().find(|(_, step)| step.from == version) {
        route.steps.push(at);
        version = step.to;
    }
    route
}

#[cfg(test)]
#[path = "chain_test.rs"]
mod tests;
