//! One service in two builds, one route and one fold version apart.
use foldwright::{
    Faults,
    prelude::{
        Aggregate, AggregateId, AggregateType, Commutative, Declared, Declares, Event, Fold, Intent,
        InvalidId, Map, Millis, Pipeline, Recorded, TenantId,
    },
};
use serde::{Deserialize, Serialize};

/// An account.
pub enum Account {}

impl Aggregate for Account {
    const TYPE: AggregateType = AggregateType::new("account");
    type Event = AccountEvent;
}

/// What happens to accounts.
#[derive(Event)]
#[event(aggregate = Account, prefix = "test.ledger.account")]
pub enum AccountEvent {
    /// Money came in.
    #[event(name = "deposited", version = "2026-01-01")]
    Deposited(Deposit),
}

/// Money that came in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Deposit {
    /// Whose.
    pub account: String,
    /// Who says so, and its number there.
    pub reference: String,
    /// How much.
    pub cents: u64,
}

/// Takes note of a deposit.
pub enum TakeDeposit {}

impl Declares for TakeDeposit {
    type Of = Account;
    type Data = Deposit;
    const NAME: &'static str = "take_deposit";

    fn aggregate_id(deposit: &Deposit) -> Result<AggregateId, InvalidId> {
        AggregateId::parse(deposit.account.as_str())
    }

    fn idempotency_key(deposit: &Deposit) -> Option<String> {
        Some(deposit.reference.clone())
    }
}

/// The balance as the old build keeps it.
pub enum OldBalance {}

impl Fold for OldBalance {
    type On = AccountEvent;
    type State = u64;
    type Order = Commutative;
    const NAME: &'static str = "balance";
    const VERSION: u32 = 1;

    fn init() -> u64 {
        0
    }

    fn apply(cents: u64, event: &Recorded<AccountEvent>) -> u64 {
        let AccountEvent::Deposited(deposit) = &event.data;
        cents + deposit.cents
    }
}

/// The balance as the new build keeps it: another state, so another version.
pub enum NewBalance {}

/// A balance with how many deposits it is made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Balance {
    /// The sum.
    pub cents: u64,
    /// How many deposits.
    pub deposits: u64,
}

impl Fold for NewBalance {
    type On = AccountEvent;
    type State = Balance;
    type Order = Commutative;
    const NAME: &'static str = OldBalance::NAME;
    const VERSION: u32 = 2;

    fn init() -> Balance {
        Balance {
            cents: 0,
            deposits: 0,
        }
    }

    fn apply(balance: Balance, event: &Recorded<AccountEvent>) -> Balance {
        let AccountEvent::Deposited(deposit) = &event.data;
        Balance {
            cents: balance.cents + deposit.cents,
            deposits: balance.deposits + 1,
        }
    }
}

/// A row for each deposit: only the new build knows it.
pub enum Entries {}

impl Map for Entries {
    type On = AccountEvent;
    type Record = Deposit;
    const NAME: &'static str = "entries";
    const VERSION: u32 = 1;

    fn map(event: &Recorded<AccountEvent>) -> Option<Deposit> {
        let AccountEvent::Deposited(deposit) = &event.data;
        Some(deposit.clone())
    }
}

/// The old build's pipeline.
///
/// # Errors
/// None in practice.
pub fn old_build() -> Result<Pipeline<Account>, Faults> {
    Pipeline::define("ledger")
        .declares::<TakeDeposit>()
        .fold::<OldBalance>(|fold| fold)
        .build()
}

/// The new build's pipeline.
///
/// # Errors
/// None in practice.
pub fn new_build() -> Result<Pipeline<Account>, Faults> {
    Pipeline::define("ledger")
        .declares::<TakeDeposit>()
        .fold::<NewBalance>(|fold| fold)
        .map::<Entries>(|map| map)
        .build()
}

/// Deposit number `n` of a sender.
#[must_use]
pub fn deposit(tenant: &TenantId, sender: &str, n: u64, accounts: u64) -> Intent<Declared<TakeDeposit>> {
    let deposit = Deposit {
        account: format!("account-{}", n % accounts),
        reference: format!("{sender}:{n}"),
        cents: n,
    };
    let when = Millis(1_767_225_600_000 + i64::try_from(n).unwrap_or(0));
    Intent::new(tenant.clone(), when, Declared(deposit))
}
