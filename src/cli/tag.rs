//! `profdb tag SET KEY=VALUE...`

use clap::Args;

use super::args::{contradiction, joined, run_set, tag};
use super::database::{DatabaseArgs, WaitArgs, is_of_runs, open_to_change};
use super::failure::{Failure, complain, line, say, unchosen};
use crate::base::error::Stop;
use crate::store::{RunSet, Tag, TagChange};

#[derive(Debug, Args)]
pub(super) struct TagRuns {
    /// The runs: latest, numbers, KEY=VALUE,... of their tags, the start of a uid (4 characters or
    /// more), or a title
    #[arg(value_name = "SET", value_parser = run_set())]
    runs: RunSet,
    /// What to say of them, in the place of what is said under this key
    #[arg(value_name = "KEY=VALUE", value_parser = tag, required_unless_present = "remove")]
    tags: Vec<Tag>,
    /// Key of a tag to take from them; several times: each of them
    #[arg(long, value_name = "KEY")]
    remove: Vec<String>,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    wait: WaitArgs,
}

pub(super) fn run(tag: &TagRuns, stop: &Stop) -> Result<(), Failure> {
    if let Some((one, other)) = contradiction(&tag.tags) {
        let message = format!("{one} {other}: expected one value for each key, found two");
        return Err(complain(message, Failure::Usage));
    }
    let mut kept = tag.tags.iter();
    if let Some(both) = kept.find(|kept| tag.remove.contains(&kept.key)) {
        let key = &both.key;
        let message = format!("{both} --remove {key}: expected one of the two");
        return Err(complain(message, Failure::Usage));
    }
    joined(&tag.tags).iter().for_each(say);
    is_of_runs(Some(&tag.runs))?;
    let mut database = open_to_change(&tag.database, &tag.wait, stop)?;
    let change = TagChange {
        add: tag.tags.clone(),
        remove: tag.remove.clone(),
    };
    let tagged = database.tag_runs(&tag.runs, &change);
    let tagged = tagged.map_err(|error| unchosen(error, stop))?;
    tagged.iter().try_for_each(line)
}
