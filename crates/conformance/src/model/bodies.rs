//! Who holds a body.
use super::state::{Ensure, Model, ensure, holds};
use foldwright_domain::Millis;
use foldwright_ports::{BlobRef, Held, NewJob};

impl Model {
    fn is_held(&self, blob: &BlobRef) -> bool {
        let waiting = self.groups.values().flat_map(|group| &group.jobs);
        let dead = self.dead.iter().map(|letter| &letter.job);
        waiting.chain(dead).any(|job| job.holds().contains(blob))
    }

    /// Jobs that held these bodies no longer do.
    pub(super) fn release(&mut self, now: Millis, blobs: Vec<BlobRef>) {
        for blob in blobs {
            if !self.is_held(&blob) {
                self.not_taken.remove(&blob);
                self.released.insert(blob, now);
            }
        }
    }

    /// A job was handed over whose bodies nobody keeps.
    pub(super) fn did_not_take(&mut self, job: &NewJob) {
        for blob in holds(job) {
            if !self.is_held(&blob) {
                self.not_taken.insert(blob);
            }
        }
    }

    pub(crate) fn check_held(&self, blob: &BlobRef, said: Held) -> Ensure {
        let holds = if self.is_held(blob) {
            said == Held::Yes
        } else if self.not_taken.contains(blob) {
            said != Held::Yes
        } else if let Some(at) = self.released.get(blob) {
            said == Held::Released(*at)
        } else {
            said == Held::Never
        };
        ensure(holds, || {
            format!(
                "held({blob:?}) says {said:?}; held: {}, released: {:?}",
                self.is_held(blob),
                self.released.get(blob)
            )
        })
    }

    pub(crate) fn forget(&mut self, blob: &BlobRef) {
        self.released.remove(blob);
        if !self.is_held(blob) {
            self.not_taken.remove(blob);
        }
    }
}
