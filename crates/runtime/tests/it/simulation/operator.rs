//! Somebody at the service's controls.
use super::history::History;
use crate::support::{START, Seeded, idle, tenant};
use foldwright_domain::Millis;
use foldwright_ports::{GroupFilter, GroupState, Route, Scope, Selection, TenantLimits, Verb};
use foldwright_runtime::{Kernel, Operator as Verbs};

const MANY: usize = 100_000;

pub(super) struct Operator {
    verbs: Verbs,
    paused: Vec<Scope>,
    history: History,
}

impl Operator {
    pub(super) fn new(kernel: &Kernel, history: &History) -> Self {
        Self {
            verbs: kernel.operator(),
            paused: Vec::new(),
            history: history.clone(),
        }
    }

    /// Does something, whether it makes sense or not.
    pub(super) async fn act(&mut self, seeded: &mut Seeded) {
        let owner = tenant(if seeded.one_in(2) { "a" } else { "b" });
        match seeded.below(7) {
            0 => self.pause(seeded).await,
            1 => self.let_all_go().await,
            2 => drop(self.open().await),
            3 => self.restage().await,
            4 => {
                let limits = TenantLimits {
                    weight: 1 + u32::try_from(seeded.below(5)).unwrap(),
                    cap: seeded.one_in(2).then_some(1),
                    ..TenantLimits::default()
                };
                self.note(format!("limits {owner} to {limits:?}"));
                self.verbs.limit(&owner, Some(limits)).await.unwrap();
            }
            5 => {
                self.note("buries what is blocked".into());
                self.verbs
                    .sweep(Verb::Bury, &blocked(), false, None, MANY)
                    .await
                    .unwrap();
            }
            _ => {
                self.note("puts dead letters back".into());
                self.verbs.requeue_all(None, MANY).await.unwrap();
            }
        }
    }

    /// Takes back every pause and limit.
    pub(super) async fn let_all_go(&mut self) {
        self.note("resumes all".into());
        for scope in std::mem::take(&mut self.paused) {
            self.verbs.resume(&scope).await.unwrap();
        }
        for owner in ["a", "b"] {
            self.verbs.limit(&tenant(owner), None).await.unwrap();
        }
    }

    /// Waits until everything is done, opening what was quarantined: what failed was this run's trouble, and is over.
    pub(super) async fn settle_down(&self, kernel: &Kernel) {
        for _ in 0..100 {
            idle(kernel).await;
            if !self.open().await {
                return;
            }
        }
        panic!("something is quarantined again and again");
    }

    /// Opens quarantined groups and puts dead letters back; answers whether there were any.
    async fn open(&self) -> bool {
        let opened = self
            .verbs
            .sweep(Verb::Unblock, &blocked(), false, None, MANY)
            .await
            .unwrap();
        let put_back = self.verbs.requeue_all(None, MANY).await.unwrap();
        let any = opened.groups + put_back.jobs > 0;
        if any {
            self.note(format!(
                "opens {} groups, puts {} letters back",
                opened.groups, put_back.jobs
            ));
        }
        any
    }

    async fn pause(&mut self, seeded: &mut Seeded) {
        let route = Route::parse("runs/fold/story").unwrap();
        let scopes = [
            Scope::All,
            Scope::Pipeline("runs".into()),
            Scope::Kind("fold".into()),
            Scope::Kind("command".into()),
            Scope::Route(route),
            Scope::Tenant(tenant("a")),
        ];
        let scope = seeded.pick(&scopes).clone();
        self.note(format!("pauses {scope:?}"));
        self.verbs.pause(&scope, "simulated").await.unwrap();
        self.paused.push(scope);
    }

    async fn restage(&self) {
        self.note("restages everything".into());
        for owner in ["a", "b"] {
            let all = Selection::all(tenant(owner));
            self.verbs
                .restage(&all, Millis(START - 1_000_000), None, MANY)
                .await
                .unwrap();
        }
    }

    fn note(&self, line: String) {
        self.history.note(format!("the operator {line}"));
    }
}

fn blocked() -> GroupFilter {
    GroupFilter {
        state: Some(GroupState::Blocked),
        ..GroupFilter::default()
    }
}
