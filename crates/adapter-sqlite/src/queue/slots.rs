//! What a worker must know and meet.
use super::gates::Gates;
use crate::{
    error::{Fault, Outcome},
    names::Names,
};
use foldwright_ports::{Capabilities, Route};
use rusqlite::Connection;

/// A line of groups whose first due jobs ask the same of a worker. A claim reads the lines that its worker can serve
/// and no others, so stranded groups cost it nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slot {
    pub(super) id: i64,
    pub(super) route: i64,
    pub(super) format: u8,
    pub(super) need: u32,
}

impl Slot {
    /// Whether a worker knows the route of this slot, `route`, at its format and need.
    pub(super) fn can_be_served(&self, route: &Route, capabilities: &Capabilities) -> bool {
        self.format <= capabilities.format
            && capabilities
                .routes
                .get(route)
                .is_some_and(|capability| self.need <= capability.version)
    }
}

/// The slots that this connection has met; rows are only added.
#[derive(Default)]
pub(crate) struct Slots(Vec<Slot>);

impl Slots {
    /// The slot of a job in a group.
    pub(super) fn number(&mut self, db: &Connection, route: i64, format: u8, need: u32) -> Outcome<i64> {
        let is = |slot: &&Slot| slot.route == route && slot.format == format && slot.need == need;
        if let Some(slot) = self.0.iter().find(is) {
            return Ok(slot.id);
        }
        self.load(db)?;
        if let Some(slot) = self.0.iter().find(is) {
            return Ok(slot.id);
        }
        db.prepare_cached("INSERT INTO fw_slots (route, format, need) VALUES (?1, ?2, ?3)")?
            .execute((route, format, need))?;
        let id = db.last_insert_rowid();
        self.0.push(Slot {
            id,
            route,
            format,
            need,
        });
        Ok(id)
    }

    /// The slots that a worker can serve, as far as their routes are open for everybody.
    pub(super) fn served(
        &mut self,
        db: &Connection,
        names: &mut Names,
        gates: &Gates,
        capabilities: &Capabilities,
    ) -> Outcome<Vec<i64>> {
        self.load(db)?;
        let mut served = Vec::new();
        for slot in &self.0 {
            let route = names.route(db, slot.route)?;
            if slot.can_be_served(&route, capabilities) && gates.is_open(slot.route, &route) {
                served.push(slot.id);
            }
        }
        Ok(served)
    }

    /// What a slot asks of a worker.
    pub(super) fn get(&mut self, db: &Connection, id: i64) -> Outcome<Slot> {
        let is = |slot: &&Slot| slot.id == id;
        if let Some(slot) = self.0.iter().find(is) {
            return Ok(*slot);
        }
        self.load(db)?;
        let slot = self.0.iter().find(is).copied();
        slot.ok_or_else(|| Fault::corrupt(format!("slot {id} is missing")))
    }

    /// The slots of a route.
    pub(super) fn of_route(&mut self, db: &Connection, route: i64) -> Outcome<Vec<i64>> {
        self.load(db)?;
        let slots = self.0.iter().filter(|slot| slot.route == route);
        Ok(slots.map(|slot| slot.id).collect())
    }

    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }

    fn load(&mut self, db: &Connection) -> Outcome<()> {
        let last = self.0.last().map_or(0, |slot| slot.id);
        let mut newer =
            db.prepare_cached("SELECT id, route, format, need FROM fw_slots WHERE id > ?1 ORDER BY id")?;
        let mut rows = newer.query([last])?;
        while let Some(row) = rows.next()? {
            self.0.push(Slot {
                id: row.get(0)?,
                route: row.get(1)?,
                format: row.get(2)?,
                need: row.get(3)?,
            });
        }
        Ok(())
    }
}
