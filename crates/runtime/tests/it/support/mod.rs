//! A small domain, ports that fail as told, and a bench to run it on.
mod admin;
mod bench;
mod bulky;
mod deciders;
mod ears;
mod faults;
mod pages;
mod raw;
mod runs;
mod seeded;
mod suites;

pub(crate) use admin::Admin;
pub(crate) use bench::{Bench, START, at, finish, idle, key, keyed_note, note, tenant, until};
pub(crate) use bulky::{Last, bulky};
pub(crate) use deciders::{Double, End, Take, Unguarded, decide_group, double, end, keyed_take, take};
pub(crate) use ears::{All, ByNumber, Ear, Evens, Heard, Hearing, InOrder, Manner, Reaction, Sibling};
pub(crate) use faults::{Faults, Op, Trouble, What, faulty};
pub(crate) use pages::{Copies, KEPT, Lengths, Page, PageEvent, Scribe, SuppleTexts, Texts, Write, Written};
pub(crate) use raw::{as_new, blob_of, noise};
pub(crate) use runs::*;
pub(crate) use seeded::Seeded;
pub(crate) use suites::{Anything, Count, Counted, Journal, Suite, Usage};
