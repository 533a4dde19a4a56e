//! `profdb tag SET KEY=VALUE...`

use clap::Args;

use super::args::{contradiction, joined, run_set, tag};
use super::database::{DatabaseArgs, WaitArgs, is_of_runs, open_to_change};
use super::failure::{Failure, complain, line, say, unchosen};
use crate::base::error::Stop;
use crate::store::{RunSet, Tag, TagChange};

#[derive(Debug, Args)]
pub(super) struct TagRuns {
    /// Runs: latest, 1,2,3, last N, KEY=VALUE, uid or title
    ///
    /// Runs are named by `latest`, numbers such as `1,2,3`, `last 20`, tags such as `branch=main` or
    /// `branch=main last 20`, the first 4 or more characters of a uid, or a title.
    #[arg(value_name = "SET", value_parser = run_set())]
    runs: RunSet,
    /// Tags to set; an existing value of a key is replaced
    #[arg(value_name = "KEY=VALUE", value_parser = tag, required_unless_present = "remove")]
    tags: Vec<Tag>,
    /// Remove the tag with this key; repeatable
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
        let message = format!("{both} --remove {key}: use only one of them");
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
