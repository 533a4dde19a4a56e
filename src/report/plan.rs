//! Plans the one statement of a question: chooses its common table expressions, and the text of their
//! placeholders.
//!
//! The expressions are the files in `queries/fragments`. Each has a name in the statement, and one of
//! several files defines it: `function_costs` are totals of the run, or sums over nodes, or the costs
//! of groups of functions. A report reads the names, whatever is asked
//! (docs/design/0015-one-statement.md).

use std::fmt::Write as _;

use super::labels::listed;
use super::names::{Kinds, PickedBy};
use super::path::Operator;
use super::question::{
    Base, Filter, GroupNames, Groups, Question, ShownLines, Sort, WantedLabel, has_tree,
};
use super::selection::{Selection, Step, Target};
use super::statement::Parts;
use crate::events;
use crate::store::MetricInfo;

/// The text of a fragment.
macro_rules! fragment {
    ($name:literal) => {
        include_str!(concat!("../../queries/fragments/", $name, ".sql"))
    };
}

/// Whether a report adds up nodes, rather than reading totals.
pub(super) fn is_from_nodes(question: &Question<'_>, selection: &Selection) -> bool {
    match selection.target {
        Target::Functions | Target::EachFunction => false,
        Target::Nodes => true,
        Target::Run => {
            has_tree(question.run)
                && (selection.is_filtered(question)
                    || question.groups != Groups::Functions
                    || question.header.needs.paths())
        }
    }
}

/// The parts of the statement that answers a question.
pub(super) fn plan(question: &Question<'_>, selection: &Selection) -> Parts {
    let mut parts = Parts::default();
    parts.value("run", question.run.run_id);
    parts.value("metric", question.metric.name.clone());
    rows(&mut parts, question);
    layers(&mut parts, question, selection);
    filters(&mut parts, question, selection);
    labels(&mut parts, question, selection);
    groups(&mut parts, question, selection);
    walks(&mut parts, question, selection);
    selected(&mut parts, question, selection);
    stages(&mut parts, question, selection);
    parts
}

/// Whether the costs are shifted, or the readings of the timer shown.
fn with_readings(question: &Question<'_>) -> bool {
    let are_shown = question.shows("exclusive_ticks");
    question.readings.is_some() && (question.shift != 0.0 || are_shown)
}

/// What the report shows, in which order.
fn rows(parts: &mut Parts, question: &Question<'_>) {
    let cost = if question.exclusive {
        "i.exclusive"
    } else {
        "i.cumulative"
    };
    parts.word(
        "$sort_key",
        match question.sort {
            Sort::Cost => cost,
            Sort::Calls => "i.calls",
            Sort::Average => "$cost / NULLIF(i.calls, 0)",
            Sort::Exclusive => "i.exclusive",
            Sort::Cumulative => "i.cumulative",
            Sort::Name => "NULL",
        },
    );
    parts.word("$cost", cost);
    let is_ranked = question.runs_up || question.shows("rank");
    parts.part(
        "ranked",
        if is_ranked {
            fragment!("ranked")
        } else {
            fragment!("percentages")
        },
    );
    // A window sorts the rows once more and copies all of them.
    parts.word("$sorted", if is_ranked { "r.rank" } else { "$best" });
    parts.word(
        "$best",
        "r.sort_key DESC, r.name, r.line, r.col, r.module, r.file, r.id, r.kind",
    );
    // Sums of percentages are as inexact as their parts.
    parts.word(
        "$up_to",
        match question.pct {
            Some(_) => "\nWHERE r.cum_pct <= :pct + 1e-9",
            None => "",
        },
    );
    parts.word(
        "$first",
        match question.first {
            Some(_) => " LIMIT :first",
            None => "",
        },
    );
    let source = |function: &str, file: &str, line: &str| {
        if question.code {
            format!(
                "(SELECT s.text FROM source_lines AS s \
                 WHERE s.run_id = :run AND s.function_id = {function} AND s.file = {file} AND s.line = {line})"
            )
        } else {
            "NULL".to_owned()
        }
    };
    parts.word("$code", source("r.id", "r.file", "r.line"));
    parts.word(
        "$data_code",
        source(
            "i.function_id",
            "IIF(i.line_file = '', f.file, i.line_file)",
            "i.line",
        ),
    );
    parts.word(
        "$tree_code",
        source("n.function_id", "COALESCE(n.file, f.file)", "n.line"),
    );
    // No answer has as many rows as a larger number says.
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    if let Some(first) = question.first {
        parts.value("first", count(first));
    }
    if let Some(depth) = question.depth {
        parts.value("depth", count(depth));
    }
    if let Some(pct) = question.pct {
        parts.value("pct", pct);
    }
    if let Some(min_pct) = question.min_pct {
        parts.value("min_pct", min_pct);
    }
}

/// Totals, edges and nodes in the metric and with the timer bias of the question.
fn layers(parts: &mut Parts, question: &Question<'_>, selection: &Selection) {
    let readings = with_readings(question);
    let shifted = question.shift != 0.0;
    parts.value("shift", question.shift);
    parts.part(
        "question",
        if readings {
            fragment!("question_with_readings")
        } else {
            fragment!("question")
        },
    );
    parts.word(
        "$picked",
        if matches!(selection.target, Target::Functions | Target::EachFunction) {
            " AND i.function_id IN (SELECT function_id FROM step_1_functions)"
        } else {
            ""
        },
    );
    parts.file(fragment!("totals"));
    if shifted {
        parts.file(fragment!("totals_shifted"));
    }
    // The default metric has all functions and lines: there, readings say how much each is shifted.
    if readings && (!shifted || question.is_default_metric()) {
        parts.part("element_costs", fragment!("element_costs_with_readings"));
    }
    parts.same("function_costs", "totals");
    if is_from_nodes(question, selection) {
        parts.file(fragment!("costs_of_nodes"));
    }
    let (edges, of_metric) = if shifted {
        ("shifted_edges", "1")
    } else {
        ("edges", "e.metric_id = q.metric_id")
    };
    parts.word("$edges_of_metric", of_metric);
    parts.word("$edges", edges);
    // Nodes are shifted one by one, totals where they are shown.
    let (exclusive, cumulative) = if shifted && !is_from_nodes(question, selection) {
        (
            " + :shift * i.exclusive_readings",
            " + :shift * i.cumulative_readings",
        )
    } else {
        ("", "")
    };
    parts.word("$data_exclusive", exclusive);
    parts.word("$data_cumulative", cumulative);
    nodes(parts, question, selection);
}

/// Own and whole cost of a node in another metric than the run's default one, which a column of `question` names, and how they are
/// joined under a name. A node has no row where it cost nothing.
fn of_other_metric(name: &str, metric: &str) -> [String; 3] {
    [
        format!("COALESCE({name}.exclusive, 0.0)"),
        format!("IIF({name}.node_id IS NULL, 0.0, {name}.cumulative)"),
        format!(
            "LEFT JOIN node_costs AS {name} ON {name}.metric_id = q.{metric} AND {name}.node_id = n.node_id"
        ),
    ]
}

/// Own and whole cost of a node as it has them itself.
fn of_node() -> [String; 2] {
    ["n.exclusive", "n.cumulative"].map(str::to_owned)
}

/// Nodes in the metric and with the timer bias of the question.
fn nodes(parts: &mut Parts, question: &Question<'_>, selection: &Selection) {
    parts.part("metric_nodes", fragment!("metric_nodes"));
    let is_default =
        |metric: &MetricInfo| question.run.default_metric.as_ref() == Some(&metric.name);
    let (mut joins, mut columns) = (String::new(), String::new());
    let [mut own, mut all] = if is_default(&question.metric) {
        of_node()
    } else {
        let [own, all, join] = of_other_metric("c", "metric_id");
        joins = format!(" {join}");
        [own, all]
    };
    if let Some(readings) = question
        .readings
        .as_ref()
        .filter(|_| with_readings(question))
    {
        let [own_readings, all_readings] = if is_default(readings) {
            of_node()
        } else {
            let [own, all, join] = of_other_metric("t", "readings_id");
            let _ = write!(joins, "\n{join}");
            [own, all]
        };
        // An unknown number of readings makes a time unknown only where it is shifted by them.
        if question.shift != 0.0 {
            let _ = write!(own, " + :shift * {own_readings}");
            let _ = write!(all, " + :shift * {all_readings}");
        }
        columns = format!(
            ",\n  {own_readings} AS exclusive_readings, {all_readings} AS cumulative_readings"
        );
    }
    parts.word("$own_cost", own);
    parts.word("$all_cost", all);
    parts.word("$node_readings", columns);
    parts.word("$cost_joins", joins);
    // What filters leave has none: how often the timer was read for it is not computed.
    let (sums, costs) = if with_readings(question) && !selection.is_filtered(question) {
        (
            "SUM(n.exclusive_readings) AS exclusive_readings,\n  \
             CASE WHEN n.line IS NULL OR COUNT(*) = COUNT(n.cumulative_readings)\n    \
             THEN SUM(CASE WHEN n.outer_id >= $top THEN 0.0 ELSE n.cumulative_readings END) END AS cumulative_readings",
            "n.exclusive_readings AS exclusive_ticks, n.cumulative_readings AS cumulative_ticks",
        )
    } else {
        (
            "NULL AS exclusive_readings, NULL AS cumulative_readings",
            "NULL AS exclusive_ticks, NULL AS cumulative_ticks",
        )
    };
    parts.word("$readings_of_nodes", sums);
    parts.word("$tree_readings", costs);
}

/// The tree that filters leave.
fn filters(parts: &mut Parts, question: &Question<'_>, selection: &Selection) {
    let is_labelled = !question.labels.is_empty();
    let mut kept: Vec<&str> = Vec::new();
    for (filter, functions) in &selection.filters {
        parts.value(filter.name(), listed(functions));
        kept.extend(match filter {
            Filter::Focus => Some(
                "MAX(IIF(n.function_id IN (SELECT value FROM json_each(:focus)), n.last_id, 0)) OVER so_far >= n.node_id",
            ),
            Filter::Ignore => Some(
                "MAX(IIF(n.function_id IN (SELECT value FROM json_each(:ignore)), n.last_id, 0)) OVER so_far < n.node_id",
            ),
            Filter::Hide => None,
        });
    }
    if is_labelled {
        kept.push("t.node_id IS NOT NULL");
    }
    let mut given = selection.filters.iter();
    let looks_back = given.any(|(filter, _)| *filter != Filter::Hide);
    parts.word(
        "$so_far",
        if looks_back {
            "\n  WINDOW so_far AS (ORDER BY n.node_id ROWS UNBOUNDED PRECEDING)"
        } else {
            ""
        },
    );
    parts.word("$kept", kept.join("\n    AND "));
    parts.word("$calls", if is_labelled { "NULL" } else { "n.calls" });
    parts.word(
        "$wanted",
        if is_labelled {
            "COALESCE(t.exclusive, 0.0)"
        } else {
            "n.exclusive"
        },
    );
    parts.word(
        "$labelled",
        if is_labelled {
            " LEFT JOIN labelled AS t ON t.node_id = n.node_id"
        } else {
            ""
        },
    );
    parts.file(fragment!("left_nodes"));
    parts.file(fragment!("visible_nodes"));
    let (depth, join) = if shows_depth(question) {
        (
            "levels.level",
            "\nJOIN levels ON levels.node_id = n.node_id",
        )
    } else {
        ("n.depth", "")
    };
    parts.word("$depth", depth);
    parts.word("$levels", join);
}

/// Returns whether the rows are nodes with their depths: those of a tree.
fn shows_depth(question: &Question<'_>) -> bool {
    question.shows("node_id") && question.shows("depth")
}

/// Labels of samples: those that are wanted, and those that are shown.
fn labels(parts: &mut Parts, question: &Question<'_>, selection: &Selection) {
    wanted(parts, &question.labels);
    let hides = selection.functions_of(Filter::Hide).is_some();
    let keeps = is_kept_in_part(question, selection);
    parts.word(
        "$labelled_node",
        if hides {
            "COALESCE(h.at_id, c.node_id)"
        } else {
            "c.node_id"
        },
    );
    parts.word(
        "$hidden_labels",
        if hides {
            " LEFT JOIN hidden AS h ON h.node_id = c.node_id"
        } else {
            ""
        },
    );
    let mut left = String::new();
    if keeps {
        left.push_str(" AND n.kept");
    }
    if hides {
        left.push_str("\n  AND (h.node_id IS NULL OR h.at_id IS NOT NULL)");
    }
    if !question.labels.is_empty() {
        left.push_str("\n  AND c.set_id IN (SELECT set_id FROM wanted_sets)");
    }
    parts.word("$labels_left", left);
}

/// The sets of labels that have every label that is wanted.
fn wanted(parts: &mut Parts, labels: &[WantedLabel<'_>]) {
    let mut conditions = Vec::new();
    for (number, (key, value)) in (1..).zip(labels) {
        parts.value(format!("key_{number}"), (*key).to_owned());
        conditions.push(value.map_or_else(String::new, |value| {
            parts.value(format!("value_{number}"), value.to_owned());
            format!(
                "\n  AND :value_{number} IN (CAST(s.value AS TEXT), s.value || s.unit, s.value || ' ' || s.unit)"
            )
        }));
    }
    let more = (2..).zip(conditions.iter().skip(1)).map(|(number, condition)| {
        format!(
            "\nINTERSECT\nSELECT s.set_id FROM label_sets AS s WHERE s.run_id = :run AND s.key = :key_{number}{condition}"
        )
    });
    parts.word("$more_labels", more.collect::<String>());
    parts.word("$value_1", conditions.first().cloned().unwrap_or_default());
    parts.file(fragment!("labels"));
}

/// The parts that find the sets of labels which have every one of these.
pub(super) fn sets_with(run: i64, labels: &[WantedLabel<'_>]) -> Parts {
    let mut parts = Parts::default();
    parts.value("run", run);
    wanted(&mut parts, labels);
    parts
}

/// Whether a filter or a label leaves out own costs of nodes.
fn is_kept_in_part(question: &Question<'_>, selection: &Selection) -> bool {
    let mut filters = selection.filters.iter();
    !question.labels.is_empty() || filters.any(|(filter, _)| *filter != Filter::Hide)
}

/// What the path selects, and what it cost.
fn selected(parts: &mut Parts, question: &Question<'_>, selection: &Selection) {
    let last = selection.steps.len();
    for (at, Step { operator, picked }) in (1..).zip(&selection.steps) {
        let step = at.to_string();
        let earlier = (at - 1).to_string();
        let (text, kinds) = match &picked.by {
            PickedBy::Name(name, kinds) => {
                parts.value(format!("name_{at}"), name.clone());
                (
                    fragment!("named_functions"),
                    match kinds {
                        Kinds::Code => "IN ('function', 'pseudo')",
                        Kinds::Containers => "NOT IN ('function', 'pseudo')",
                        Kinds::Threads => "= 'thread'",
                    },
                )
            }
            PickedBy::Pattern(pattern) if question.dialect.is_none() => {
                parts.value(format!("name_{at}"), pattern.clone());
                (fragment!("fitting_functions"), "")
            }
            // Engines have other patterns, or none.
            PickedBy::List | PickedBy::Pattern(_) => {
                parts.value(format!("name_{at}"), listed(&picked.functions));
                (fragment!("listed_functions"), "")
            }
        };
        let words = [
            ("$step", step.as_str()),
            ("$kinds", kinds),
            ("$earlier", &earlier),
        ];
        parts.part_with(format!("step_{at}_functions"), text, &words);
        let text = match operator {
            _ if at == 1 => fragment!("first_step"),
            Operator::Within => fragment!("step_within"),
            Operator::Direct => fragment!("step_direct"),
        };
        let name = if at == last {
            "subtrees".to_owned()
        } else {
            format!("step_{at}")
        };
        parts.part_with(name, text, &words);
    }
    let is_filtered = selection.is_filtered(question);
    // The nodes that filters leave have no index by number: each node is joined with its subtree instead.
    let is_left = is_filtered && selection.target == Target::Nodes;
    parts.part("selected_nodes", fragment!("selected_nodes"));
    let (nodes, in_selection, top, labels, in_labels) = if is_left {
        (
            "selected_nodes AS n",
            "n.node_id <= n.reached",
            "n.top_id",
            "labels_of_nodes AS c CROSS JOIN selected_nodes AS n",
            "n.node_id = c.node_id AND n.node_id <= n.reached",
        )
    } else {
        (
            "subtrees AS s CROSS JOIN $nodes AS n",
            "s.outermost AND n.node_id BETWEEN s.node_id AND s.last_id",
            "s.node_id",
            "subtrees AS s CROSS JOIN labels_of_nodes AS c",
            "s.outermost AND c.node_id BETWEEN s.node_id AND s.last_id",
        )
    };
    parts.word("$selected_nodes", nodes);
    parts.word("$in_selection", in_selection);
    parts.word("$top", top);
    parts.word("$selected_labels", labels);
    parts.word("$in_selected_labels", in_labels);
    let is_all = selection.target == Target::Run && !is_filtered;
    parts.file(fragment!("function_lines"));
    parts.word("$path_functions", format!("step_{last}_functions"));
    parts.word(
        "$shown_lines",
        match question.lines {
            ShownLines::All => "all_lines",
            ShownLines::WithFigures => "figured_lines",
        },
    );
    parts.file(match selection.target {
        Target::Functions | Target::EachFunction => fragment!("selection_of_functions"),
        Target::Run if is_all => fragment!("whole_run"),
        Target::Run => fragment!("what_is_left"),
        Target::Nodes => fragment!("selection_of_nodes"),
    });
    parts.word(
        "$total",
        if question.base == Base::Selection && !is_all {
            "(SELECT NULLIF(cost, 0) FROM selected)"
        } else {
            "(SELECT total FROM question)"
        },
    );
}

/// What is counted as one, and what it is called.
fn groups(parts: &mut Parts, question: &Question<'_>, selection: &Selection) {
    let from_nodes = is_from_nodes(question, selection);
    let is_grouped = matches!(
        question.groups,
        Groups::Identities | Groups::Modules | Groups::Files
    );
    let (word, module, file) = if question.groups == Groups::Files {
        ("file", "''", "file")
    } else {
        ("module", "module", "''")
    };
    parts.word("$group_word", word);
    parts.word("$group_module", module);
    parts.word("$group_file", file);
    let (caller, callers, callee, callees) = if is_grouped {
        (
            "COALESCE(g.group_id, 0)",
            " LEFT JOIN group_of AS g ON g.function_id = e.caller_id",
            "g.group_id",
            " JOIN group_of AS g ON g.function_id = e.callee_id",
        )
    } else {
        ("e.caller_id", "", "e.callee_id", "")
    };
    parts.word("$caller_groups", callers);
    parts.word("$caller", caller);
    parts.word("$callee_groups", callees);
    parts.word("$callee", callee);
    let (group, group_of, in_group) = if is_grouped {
        (
            "g.group_id",
            " CROSS JOIN group_of AS g",
            " AND g.function_id = n.function_id",
        )
    } else {
        ("n.function_id", "", "")
    };
    parts.word("$group_of", group_of);
    parts.word("$own_group", group);
    parts.word("$in_group", in_group);
    let of_identities = question.group_names == GroupNames::OfIdentities;
    let (known_groups, line_costs) = if of_identities {
        parts.file(fragment!("containers_of_identities"));
        parts.file(if has_tree(question.run) && !question.exclusive {
            fragment!("lines_of_identities_in_trees")
        } else {
            fragment!("lines_of_identities")
        });
        ("groups_of_identities", "lines_of_identities")
    } else {
        ("known_groups", "line_costs")
    };
    parts.word("$known_groups", known_groups);
    parts.word("$line_costs", line_costs);
    match question.groups {
        Groups::Functions if of_identities => parts.file(fragment!("identity_groups")),
        Groups::Functions => {}
        Groups::Identities | Groups::Modules | Groups::Files => {
            parts.file(match question.groups {
                Groups::Identities => fragment!("identity_groups"),
                _ if of_identities => fragment!("groups_of_identities"),
                _ => fragment!("groups"),
            });
            parts.part(
                "function_costs",
                if from_nodes {
                    fragment!("grouped_nodes")
                } else {
                    fragment!("grouped_totals")
                },
            );
        }
        Groups::Containers(_) | Groups::Label(_) => parts.file(fragment!("group_costs")),
    }
    let (names, listed) = match question.groups {
        Groups::Functions if !of_identities => {
            ("functions", " AND f.kind IN ('function', 'pseudo')")
        }
        _ => ("names", ""),
    };
    parts.word("$names", names);
    let has_functions = matches!(question.groups, Groups::Functions) && !of_identities;
    parts.word(
        "$function_id",
        if has_functions {
            "NULLIF(r.id, 0)"
        } else {
            "NULL"
        },
    );
    parts.word("$listed", listed);
    let kind = match question.groups {
        Groups::Containers(kind) => {
            parts.file(fragment!("containers"));
            let (containers, in_containers) = if selection.target == Target::Run {
                ("containers", "n.node_id = c.node_id")
            } else {
                (
                    "starts AS s CROSS JOIN nodes",
                    "s.node_id <= s.subtree_end AND s.node_id <= s.container_end AND c.node_id = s.container_id AND n.node_id = s.node_id",
                )
            };
            parts.word("$selected_containers", containers);
            parts.word("$in_containers", in_containers);
            parts.value("group_word", kind.name().to_owned());
            kind.name()
        }
        Groups::Label(key) => {
            parts.file(fragment!("label_groups"));
            parts.value("group_word", key.to_owned());
            parts.value("by_key", key.to_owned());
            "label"
        }
        _ => events::Kind::Function.name(),
    };
    parts.value("kind", kind.to_owned());
}

/// Where walks to the root begin, and how far reports look.
fn walks(parts: &mut Parts, question: &Question<'_>, selection: &Selection) {
    // Costs in another metric are joined where they are read once, for a statement that is easier to read.
    let joins_costs = selection.target != Target::Nodes
        && Stages::of(question, selection).left == "metric_nodes"
        && !with_readings(question);
    let mut costs = of_node();
    let (places, in_places, depth) = if selection.target == Target::Nodes {
        // Only a tree shows how deep its nodes lie.
        let needs_depth = selection.is_filtered(question) && shows_depth(question);
        (
            if needs_depth {
                "$selected_nodes CROSS JOIN subtrees AS s".to_owned()
            } else {
                "$selected_nodes".to_owned()
            },
            if needs_depth {
                "$in_selection AND s.node_id = $top"
            } else {
                "$in_selection"
            },
            "n.depth - s.depth",
        )
    } else {
        (
            if joins_costs {
                let [own, all, join] = of_other_metric("c", "metric_id");
                costs = [own, all];
                format!("runs AS r CROSS JOIN question AS q CROSS JOIN nodes AS n {join}")
            } else {
                "runs AS r CROSS JOIN $nodes AS n".to_owned()
            },
            "r.run_id = :run AND n.node_id BETWEEN r.first_node AND r.last_node",
            "n.depth",
        )
    };
    let [own, all] = costs;
    let starts_at_selection = question.header.about_function && question.path.is_some();
    // Within another selected node, a node's cost is counted already. Elsewhere every function node
    // is a start, also where it cost nothing: it may have been called.
    let (starts, in_starts, kinds, cost) = if starts_at_selection {
        let cost = if question.exclusive {
            "n.exclusive"
        } else {
            "IIF(n.outermost, n.cumulative, 0.0)"
        };
        (
            "subtrees AS n".to_owned(),
            String::new(),
            "",
            cost.to_owned(),
        )
    } else {
        (
            places.clone(),
            format!(" AND {in_places}"),
            " AND n.line IS NULL AND f.kind IN ('function', 'pseudo')",
            own.clone(),
        )
    };
    parts.word("$starts", starts);
    parts.word("$in_starts", in_starts);
    parts.word("$start_kinds", kinds);
    parts.word("$start_cost", cost);
    parts.word("$places", places);
    parts.word("$in_places", in_places);
    let (walk, way, tree) = match question.depth {
        Some(_) => (
            " AND w.level < :depth",
            "\n  AND (w.frames < :depth OR w.line IS NOT NULL)",
            " AND $tree_depth <= :depth",
        ),
        None => ("", "", ""),
    };
    parts.word("$walk_limit", walk);
    parts.word("$way_limit", way);
    parts.word("$depth_limit", tree);
    parts.word("$tree_depth", depth);
    let (chain, node, tree) = match question.min_pct {
        Some(_) => (
            "\n  HAVING 100 * SUM(w.cost) / $total >= :min_pct",
            " AND 100 * $place_own / total >= :min_pct",
            " AND 100 * COALESCE($place_all, $place_own) / $total >= :min_pct",
        ),
        None => ("", "", ""),
    };
    parts.word("$min_pct_chain", chain);
    parts.word("$min_pct_node", node);
    parts.word("$min_pct_tree", tree);
    parts.word("$place_own", own);
    parts.word("$place_all", all);
    parts.word(
        "$first_chains",
        match question.first {
            Some(_) => " AND (k.level > 0 OR k.rank <= :first)",
            None => "",
        },
    );
}

/// Which nodes there are: those of the run, those that filters leave, those that are not hidden.
struct Stages {
    stored: &'static str,
    kept: &'static str,
    left: &'static str,
}

impl Stages {
    fn of(question: &Question<'_>, selection: &Selection) -> Self {
        let stored = if question.is_default_metric() && !with_readings(question) {
            "nodes"
        } else {
            "metric_nodes"
        };
        let kept = if is_kept_in_part(question, selection) {
            "left_nodes"
        } else {
            stored
        };
        let left = if selection.functions_of(Filter::Hide).is_some() {
            "visible_nodes"
        } else {
            kept
        };
        Self { stored, kept, left }
    }
}

fn stages(parts: &mut Parts, question: &Question<'_>, selection: &Selection) {
    let Stages { stored, kept, left } = Stages::of(question, selection);
    parts.word("$metric_nodes", stored);
    parts.word("$kept_nodes", kept);
    parts.word("$nodes", left);
    // Where only the way to the root is asked for, costs are not.
    parts.word(
        "$linked_nodes",
        if left == "metric_nodes" {
            "nodes"
        } else {
            left
        },
    );
}
