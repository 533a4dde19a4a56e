//! GHC's cost-centre profiles.

mod built_in;
mod centres;
pub(in crate::formats) mod ghc_json;
pub(in crate::formats) mod ghc_prof;
pub(in crate::formats) mod ghc_px;
