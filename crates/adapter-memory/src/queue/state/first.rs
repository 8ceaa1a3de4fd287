//! First answers, for calls that are repeated under their nonce.
use foldwright_domain::Millis;
use foldwright_ports::{Error, Fence, Hold, Kind, Staged, Verdict};

/// What a mutating call answered, without the bytes it handed out: a grant is read again from its lease, as long as
/// that is live.
pub(super) enum First {
    Staged(Box<[Staged]>),
    Claimed(Box<[Fence]>),
    Settled {
        verdicts: Box<[KeptVerdict]>,
        squashed: usize,
        next: Box<[Fence]>,
    },
    Held(Box<[KeptHold]>),
}

/// What became of a hold.
pub(super) enum KeptHold {
    Granted(Fence),
    Reserved(Millis),
    Waiting,
}

impl KeptHold {
    pub(super) fn of(hold: &Hold) -> Self {
        match hold {
            Hold::Granted { lease, .. } => Self::Granted(lease.fence),
            Hold::Reserved { until } => Self::Reserved(*until),
            Hold::Waiting => Self::Waiting,
        }
    }
}

/// A verdict that can be given again.
pub(super) enum KeptVerdict {
    Applied,
    Lost,
    Already,
    Refused {
        kind: Kind,
        operation: &'static str,
        message: Box<str>,
    },
}

impl KeptVerdict {
    pub(super) fn of(verdict: &Verdict) -> Self {
        match verdict {
            Verdict::Applied => Self::Applied,
            Verdict::Lost => Self::Lost,
            Verdict::Already => Self::Already,
            Verdict::Refused(error) => Self::Refused {
                kind: error.kind(),
                operation: error.operation(),
                message: error.message().into(),
            },
        }
    }

    pub(super) fn again(&self) -> Verdict {
        match self {
            Self::Applied => Verdict::Applied,
            Self::Lost => Verdict::Lost,
            Self::Already => Verdict::Already,
            Self::Refused {
                kind,
                operation,
                message,
            } => Verdict::Refused(Error::new(*kind, operation, message.as_ref())),
        }
    }
}

/// The answer to a call whose nonce named another kind of call before.
pub(super) fn reused(operation: &'static str) -> Error {
    Error::new(
        Kind::Invalid,
        operation,
        "this nonce named another call: make a new one for each call",
    )
}
