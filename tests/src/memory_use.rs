//! How much memory the process uses.
use std::fs;

/// What is resident now, in MiB; `None` where the system does not say.
#[must_use]
pub fn resident_mib() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kib / 1_024)
}
