//! What changed between runs: functions are paired, their figures compared, and change told from noise.

pub mod statistics;
