//! Verbs over many groups, a page at a time.
use super::{
    State,
    group::Group,
    inspect::of_when,
    list::{of_number, to_number},
    no::No,
};
use crate::pager::ROWS_PER_PAGE;
use foldwright_domain::TenantId;
use foldwright_ports::{Cursor, GroupFilter, Result, Swept, Verb};
use std::collections::BTreeSet;

/// The reason of jobs that a sweep gave up.
const REASON: &str = "given up by an operator, with all of a selection";

impl State {
    pub(in crate::queue) fn sweep(
        &mut self,
        verb: Verb,
        filter: &GroupFilter,
        dry_run: bool,
        from: Option<&Cursor>,
        groups: usize,
    ) -> Result<Swept> {
        let from = from.map(|cursor| to_number(cursor, "sweep")).transpose()?;
        let (mut selected, mut last, mut next) = (Vec::new(), None, None);
        for (looked_at, (no, group)) in self.groups.behind(from).enumerate() {
            if selected.len() >= groups.max(1) || looked_at >= ROWS_PER_PAGE {
                next = last.map(of_number);
                break;
            }
            if self.selects(filter, group) {
                selected.push(no);
            }
            last = Some(no);
        }
        let mut swept = Swept {
            next,
            ..Swept::default()
        };
        for no in selected {
            let jobs = self.would_touch(verb, no);
            if jobs > 0 {
                swept.groups += 1;
                swept.jobs += jobs as u64;
                if !dry_run {
                    self.act(verb, no);
                }
            }
        }
        Ok(swept)
    }

    fn would_touch(&self, verb: Verb, no: No<Group>) -> usize {
        let group = self.groups.get(no);
        let touched = group.filter(|group| verb != Verb::Unblock || group.block.is_some());
        touched.map_or(0, Group::waiting)
    }

    fn act(&mut self, verb: Verb, no: No<Group>) {
        match verb {
            Verb::Unblock => {
                self.unblock_no(no);
            }
            Verb::Drain => {
                self.drain_no(no, usize::MAX);
            }
            Verb::Bury => {
                self.bury_no(no, REASON, usize::MAX);
            }
        }
    }

    pub(in crate::queue) fn requeue_all(&mut self, tenant: Option<&TenantId>, letters: usize) -> Swept {
        let rows: Vec<_> = match tenant {
            None => self.dead.of_all(None).take(letters.saturating_add(1)).collect(),
            Some(tenant) => {
                let no = self.tenants.number(tenant);
                let rows = no.map(|no| self.dead.of_tenant(no, None).take(letters.saturating_add(1)));
                rows.into_iter().flatten().collect()
            }
        };
        let mut swept = Swept::default();
        let (mut groups, mut last) = (BTreeSet::new(), None);
        for (when, no) in rows.iter().take(letters) {
            if let Some(group) = self.requeue_no(*no) {
                groups.insert(group);
                swept.jobs += 1;
            }
            last = Some(*when);
        }
        swept.groups = groups.len() as u64;
        swept.next = last.filter(|_| rows.len() > letters).map(|when| of_when(&when));
        swept
    }
}
