//! Putting right what a check found.
use super::{
    check::{Fault, counted, faults},
    grants::{self, Member},
    lines,
    work::Work,
};
use crate::error::Outcome;
use foldwright_ports::{GroupId, Violation};

/// Looks again at what seemed wrong, and puts it right where it can be.
pub(super) fn mend(
    work: &mut Work<'_, '_>,
    groups: &[i64],
    strays: &[(i64, i64)],
    missing: &[(i64, i64)],
) -> Outcome<Vec<Violation>> {
    let (db, now) = (work.write.db, work.now());
    let mut violations = Vec::new();
    for gid in groups {
        let Some(entry) = work.groups.load(db, *gid)? else {
            continue;
        };
        let faults = faults(db, &entry.group, now)?;
        let id = entry.group.id(db, work.write.names)?;
        for fault in faults {
            violations.push(violation(Some(&id), fault.what(), fault != Fault::Leased));
            repair(work, *gid, &id, fault)?;
        }
    }
    for (tenant, slot) in strays {
        if lines::first(db, *tenant, *slot)?.is_none() {
            violations.push(violation(None, "a tenant stands in a line without a group", true));
            work.tenants.seat(db, *tenant)?.lines.mistrust(*slot);
        }
    }
    for (gid, jobs) in missing {
        if work.groups.load(db, *gid)?.is_none() {
            let what = format!("{jobs} jobs belong to group {gid}, which is not there");
            violations.push(violation(None, &what, false));
        }
    }
    Ok(violations)
}

fn violation(group: Option<&GroupId>, what: &str, repaired: bool) -> Violation {
    Violation {
        group: group.cloned(),
        what: what.to_owned(),
        repaired,
    }
}

fn repair(work: &mut Work<'_, '_>, gid: i64, id: &GroupId, fault: Fault) -> Outcome<()> {
    let db = work.write.db;
    let entry = work.groups.entry(gid)?;
    match fault {
        Fault::Counts | Fault::Bytes => {
            let counted = counted(db, gid)?;
            let group = entry.misplace();
            group.counts = counted.routes.into_iter().collect();
            group.bytes = counted.bytes;
        }
        Fault::Place => {
            entry.misplace();
        }
        Fault::Blocked => entry.mistrust(),
        Fault::Line => {
            if let Some(head) = entry.group.turn.head {
                let tenant = entry.group.tenant;
                work.tenants.seat(db, tenant)?.lines.mistrust(head.slot);
            }
        }
        Fault::Grant => {
            if let Some(lease) = &entry.group.lease {
                let (fence, until) = (lease.fence, lease.until);
                let member = Member {
                    gid,
                    name: grants::name_hash(id),
                    settled: false,
                };
                grants::restore(work.write, fence, until, member)?;
            }
        }
        // Its holder may still settle what is left of it; when the lease ends, the count above is put right.
        Fault::Leased => {}
    }
    Ok(())
}
