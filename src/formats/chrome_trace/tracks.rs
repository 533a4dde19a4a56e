//! Asynchronous tracks: slices that begin and end by category and id, whatever the thread.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::slices::Mark;

/// The kind of an id.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum IdKind {
    /// Member `id`: of the process or of all of them, which the format does not say.
    #[default]
    Plain,
    /// `id2.local`.
    Local,
    /// `id2.global`.
    Global,
}

/// The common properties of the events of a track.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TrackKey {
    pub(super) category: Vec<u8>,
    pub(super) scope: Vec<u8>,
    pub(super) id_kind: IdKind,
    pub(super) id: Vec<u8>,
    /// The process of a local id.
    pub(super) process: Option<usize>,
    /// The name, for the slices of older versions, which do not nest.
    pub(super) name: Option<Vec<u8>>,
}

/// A track, and the marks on it with the processes that they come from.
struct Track {
    key: TrackKey,
    marks: Vec<(usize, Mark)>,
}

/// All tracks, in the order in which they came.
#[derive(Default)]
pub(super) struct Tracks {
    tracks: Vec<Track>,
    index: HashMap<TrackKey, usize>,
}

/// The marks of one track in one process.
pub(super) struct ProcessTrack {
    pub(super) process: usize,
    pub(super) category: Vec<u8>,
    pub(super) marks: Vec<Mark>,
}

impl Tracks {
    pub(super) fn add(&mut self, key: TrackKey, process: usize, mark: Mark) {
        let next = self.tracks.len();
        let number = *self.index.entry(key).or_insert_with_key(|key| {
            self.tracks.push(Track {
                key: key.clone(),
                marks: Vec::new(),
            });
            next
        });
        if let Some(track) = self.tracks.get_mut(number) {
            track.marks.push((process, mark));
        }
    }

    /// Returns the tracks of each process. A track of several processes is one of the process of its first event, unless
    /// each process closes what it begins.
    pub(super) fn into_processes(self) -> Vec<ProcessTrack> {
        let mut tracks = Vec::new();
        for Track { key, marks } in self.tracks {
            let split = key.id_kind == IdKind::Plain && ends_at_home(&marks);
            let first = marks.first().map_or(0, |(process, _)| *process);
            let mut processes: BTreeMap<usize, Vec<Mark>> = BTreeMap::new();
            for (process, mark) in marks {
                let process = if split { process } else { first };
                processes.entry(process).or_default().push(mark);
            }
            for (process, marks) in processes {
                tracks.push(ProcessTrack {
                    process,
                    category: key.category.clone(),
                    marks,
                });
            }
        }
        tracks
    }
}

/// Returns whether no process has more ends of a name than beginnings.
fn ends_at_home(marks: &[(usize, Mark)]) -> bool {
    let mut open: BTreeMap<(usize, Option<u32>), i64> = BTreeMap::new();
    for (process, mark) in marks {
        let change = if mark.function.is_some() { 1 } else { -1 };
        *open.entry((*process, mark.name)).or_default() += change;
    }
    open.values().all(|open| *open >= 0)
}
