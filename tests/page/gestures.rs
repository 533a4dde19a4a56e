//! Every gesture of Dyalog's dashboard ("Tuning Applications Using the ]PROFILE User Command", chapter 4), with the figures that
//! it has to show: those of the command, which prints the same. The gestures in the order of the chapter, each with the
//! script that does it here:
//!
//! | gesture | script |
//! | --- | --- |
//! | functions to the left, as a pie; lines to the right, as a table; source below each | `functions_are_a_pie_and_lines_a_table_and_each_can_be_the_other` |
//! | the drop-down at the top of each side: pie or table | `functions_are_a_pie_and_lines_a_table_and_each_can_be_the_other` |
//! | splitters are dragged | `windows_are_arranged_by_presets_double_clicks_and_splitters` |
//! | click on a piece: the source of the function below | `a_click_shows_the_source_below` |
//! | click on a row: the same | `a_click_shows_the_source_below` |
//! | double click: drill down | `a_double_click_drills_down_and_crumbs_lead_back` |
//! | crumbs lead back | `a_double_click_drills_down_and_crumbs_lead_back` |
//! | crumb of a direct call: blue, with an arrow | `crumbs_tell_direct_calls_from_others` |
//! | crumb of a call with others in between: green, with a star | `crumbs_tell_direct_calls_from_others` |
//! | crumb of calls: pink, and the last one | `calls_are_broken_down_by_functions_and_lines_that_called` |
//! | the first crumb is blue where one function has called all others | `crumbs_tell_direct_calls_from_others` |
//! | direct calls are selected, which Dyalog has no way for | `crumbs_tell_direct_calls_from_others` |
//! | the label that says how much is included | `a_double_click_drills_down_and_crumbs_lead_back` |
//! | percent of all or of the selection, in tables and in tips of pies | `shares_are_of_all_or_of_the_selection_and_costs_inclusive_or_exclusive` |
//! | inclusive or exclusive costs in tables; pies are exclusive always | `shares_are_of_all_or_of_the_selection_and_costs_inclusive_or_exclusive` |
//! | blank lines and comments shown or not | `blank_lines_and_lines_that_were_not_called_can_be_hidden` |
//! | lines that were not called shown or not | `blank_lines_and_lines_that_were_not_called_can_be_hidden` |
//! | right click on a piece, a label, a row: the menu | `the_menu_does_what_dyalogs_does` |
//! | Drill Down | `the_menu_does_what_dyalogs_does` |
//! | Make Root | `the_menu_does_what_dyalogs_does` |
//! | Show Calls, what was drilled into before is kept | `calls_are_broken_down_by_functions_and_lines_that_called` |
//! | no way down from calls | `calls_are_broken_down_by_functions_and_lines_that_called` |
//! | Reset | `the_menu_does_what_dyalogs_does` |
//! | Up 1 Level: the crumb before the last | `the_menu_does_what_dyalogs_does` |
//! | File, Open: another data set | `runs_are_opened_rows_saved_and_the_version_told` |
//! | File, Save | `runs_are_opened_rows_saved_and_the_version_told` |
//! | File, Reset: as at first | `file_reset_is_the_start_of_the_page` |
//! | File, Exit: closes the window, which is the browser's | `file_reset_is_the_start_of_the_page` |
//! | Help, About: the version | `runs_are_opened_rows_saved_and_the_version_told` |
//! | Windows, Reset | `windows_are_arranged_by_presets_double_clicks_and_splitters` |
//! | Windows, Functions | `windows_are_arranged_by_presets_double_clicks_and_splitters` |
//! | Windows, Function Details | `windows_are_arranged_by_presets_double_clicks_and_splitters` |
//! | Windows, Lines | `windows_are_arranged_by_presets_double_clicks_and_splitters` |
//! | Windows, Line Details | `windows_are_arranged_by_presets_double_clicks_and_splitters` |
//! | double click at the top of a pane, and back as it was | `windows_are_arranged_by_presets_double_clicks_and_splitters` |
//! | single-function mode | `a_single_function_has_its_body_to_the_left_and_its_lines_to_the_right` |
//! | all of it by keys | `keys_do_what_the_mouse_does` |

use std::fs;

use serde_json::Value;

use super::browser;
use crate::shown::{DIRECT, DOUBLE, Shown, repository, said};
use crate::support::browser::Click;

const ONE: Click = Click {
    times: 1,
    button: "left",
    alt: false,
};

/// The profile of a workspace, with its source.
fn workspace(test: &str) -> Option<Shown> {
    let mut shown = browser(test)?;
    let case = repository("tests/cases/cli/code-of-a-workspace/case.in");
    let source = case.join("apl").display().to_string();
    shown.import(&case.join("run.xml"), &["--source", &source]);
    shown.write(&[]);
    shown.open(&[]);
    Some(shown)
}

/// A profile that is made for a test.
fn made(test: &str, name: &str, text: &str) -> Option<Shown> {
    let mut shown = browser(test)?;
    let file = shown.folder.join(name);
    fs::write(&file, text).expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    shown.open(&[]);
    Some(shown)
}

/// The rows of a table that the command prints, cell by cell.
fn printed(shown: &Shown, words: &[&str]) -> Vec<Vec<String>> {
    let words = [&["report"][..], words, &["--db", "x.db"]].concat();
    let text = said(&shown.folder, &words);
    let rows = text.lines().skip_while(|line| !line.is_empty()).skip(2);
    rows.map(|row| {
        row.split("  ")
            .map(str::trim)
            .filter(|cell| !cell.is_empty())
            .map(str::to_owned)
            .collect()
    })
    .collect()
}

/// Names and shares as the legend of a pie has them, of as many rows as it has pieces.
fn shares(rows: &[Vec<String>], pieces: usize) -> Vec<String> {
    rows.iter()
        .take(pieces)
        .map(|row| format!("{} {} %", row[0], row[2]))
        .collect()
}

/// The crumbs: their kind and text.
fn crumbs(shown: &mut Shown) -> Vec<String> {
    let script = "[...document.querySelectorAll('.crumb')].map((crumb) => `${crumb.classList[1]} ${crumb.innerText}`)";
    serde_json::from_value(shown.browser.value(script)).expect("texts")
}

#[test]
fn functions_are_a_pie_and_lines_a_table_and_each_can_be_the_other() {
    let Some(mut shown) = workspace("layout") else {
        return;
    };
    let functions = printed(&shown, &["summary", "--exclusive"]);
    let lines = printed(&shown, &["lines"]);
    let legend = shown.labels(".functions");
    let (others, pieces) = legend.split_last().expect("pieces");
    assert_eq!(pieces, shares(&functions, pieces.len()));
    assert_eq!(
        *others,
        format!("{} others 2.0 %", functions.len() - pieces.len())
    );
    assert_eq!(shown.rows(".pane.lines"), lines);
    shown.select(".functions > header select", "table");
    assert_eq!(shown.rows(".pane.functions"), printed(&shown, &["summary"]));
    shown.select(".lines > header select", "pie");
    let lines = printed(&shown, &["lines", "--exclusive"]);
    let legend = shown.labels(".lines");
    assert_eq!(legend[..legend.len() - 1], shares(&lines, legend.len() - 1));
    shown.was_quiet();
}

#[test]
fn a_click_shows_the_source_below() {
    let Some(mut shown) = workspace("click") else {
        return;
    };
    shown.click(".functions .slice", "#.Tree.Walk", ONE);
    assert_eq!(shown.text(".function-details h2"), "#.Tree.Walk");
    // Line, calls, cost, share, source, callees.
    let expected = printed(&shown, &["function", "--fn", "#.Tree.Walk", "--all-lines"]);
    let rows = shown.rows(".function-details");
    assert_eq!(rows.len(), expected.len());
    let code: Vec<&str> = rows.iter().map(|row| row[4].as_str()).collect();
    assert!(code.contains(&"r,←∇¨⍳n"), "{code:?}");
    shown.click(".lines tbody th", "#.Shop.Load[3]", ONE);
    assert_eq!(shown.text(".line-details h2"), "#.Shop.Load");
    assert_eq!(
        shown.texts(".line-details tr[aria-selected=true] td:nth-child(5)"),
        ["#.Util.fmt∆Num row"]
    );
    // The other pane stays as it is.
    assert_eq!(shown.text(".function-details h2"), "#.Tree.Walk");
    // Nothing was drilled into.
    assert_eq!(shown.state("fn"), "");
    shown.is_as_said(".pane.function-details");
    shown.is_as_said(".pane.line-details");
    shown.was_quiet();
}

#[test]
fn a_double_click_drills_down_and_crumbs_lead_back() {
    let Some(mut shown) = workspace("drill") else {
        return;
    };
    shown.select(".functions > header select", "table");
    assert_eq!(crumbs(&mut shown), ["all all"]);
    assert_eq!(shown.text(".included"), "100.0 % of 5.23 msec included");
    shown.click(".functions tbody th", "#.Shop.Load", DOUBLE);
    assert_eq!(shown.state("fn"), "#.Shop.Load");
    assert_eq!(crumbs(&mut shown), ["all all", "indirect *#.Shop.Load"]);
    assert_eq!(shown.text(".included"), "51.4 % of 5.23 msec included");
    assert_eq!(
        shown.rows(".pane.functions"),
        printed(&shown, &["summary", "--fn", "#.Shop.Load"])
    );
    assert_eq!(
        shown.rows(".pane.lines"),
        printed(&shown, &["lines", "--fn", "#.Shop.Load"])
    );
    shown.click(".functions tbody th", "#.Util.fmt∆Num", DOUBLE);
    assert_eq!(shown.state("fn"), "#.Shop.Load,#.Util.fmt∆Num");
    let path = "#.Shop.Load,#.Util.fmt∆Num";
    assert_eq!(
        shown.rows(".pane.functions"),
        printed(&shown, &["summary", "--fn", path])
    );
    // A row of lines drills down as well, and the way back is that of the browser, too.
    shown.click(".crumb", "*#.Shop.Load", ONE);
    shown.browser.value("history.back()");
    shown.wait("location.hash.includes('fmt')");
    shown.settle();
    assert_eq!(
        shown.rows(".pane.functions"),
        printed(&shown, &["summary", "--fn", path])
    );
    shown.click(".crumb", "*#.Shop.Load", ONE);
    assert_eq!(crumbs(&mut shown), ["all all", "indirect *#.Shop.Load"]);
    shown.click(".lines tbody th", "#.Util.fmt∆Num[1]", DOUBLE);
    assert_eq!(shown.state("fn"), "#.Shop.Load,#.Util.fmt∆Num");
    shown.click(".crumb", "all", ONE);
    assert_eq!(crumbs(&mut shown), ["all all"]);
    assert_eq!(shown.rows(".pane.functions"), printed(&shown, &["summary"]));
    shown.was_quiet();
}

/// Dyalog's first crumb is blue if one function has called all others; `>` is a direct call, which Dyalog cannot select.
#[test]
fn crumbs_tell_direct_calls_from_others() {
    let text = "Rain;Step;Set;Q 5\nRain;Set;Q 4\nRain;Q 2\nRain;Step;Set 1\n";
    let Some(mut shown) = made("crumbs", "rain.folded", text) else {
        return;
    };
    shown.select(".functions > header select", "table");
    assert_eq!(crumbs(&mut shown), ["direct >Rain"]);
    shown.click(".functions tbody th", "Set", DOUBLE);
    assert_eq!(crumbs(&mut shown), ["direct >Rain", "indirect *Set"]);
    shown.click(".functions tbody th", "Q", DIRECT);
    assert_eq!(shown.state("fn"), "Set>Q");
    assert_eq!(
        crumbs(&mut shown),
        ["direct >Rain", "indirect *Set", "direct >Q"]
    );
    assert_eq!(shown.text(".included"), "75.0 % of 12 included");
    assert_eq!(
        shown.rows(".pane.functions"),
        printed(&shown, &["summary", "--fn", "Set>Q"])
    );
    // The same by the menu, and a path that begins with the root.
    shown.browser.key("0");
    shown.settle();
    shown.click(".functions tbody th", "Rain", DOUBLE);
    shown.choose(".functions tbody th", "Q", "Drill Down, direct calls only");
    assert_eq!(crumbs(&mut shown), ["direct >Rain", "direct >Q"]);
    assert_eq!(
        shown.rows(".pane.functions"),
        printed(&shown, &["summary", "--fn", "Rain>Q"])
    );
    shown.was_quiet();
}

#[test]
fn shares_are_of_all_or_of_the_selection_and_costs_inclusive_or_exclusive() {
    let Some(mut shown) = workspace("options") else {
        return;
    };
    shown.go(&[("fn", "#.Tree.Walk"), ("functions", "table")]);
    let walk = ["summary", "--fn", "#.Tree.Walk"];
    assert_eq!(shown.rows(".pane.functions"), printed(&shown, &walk));
    shown.browser.key("p");
    shown.settle();
    let of_selection = [&walk[..], &["--percent-of", "selection"]].concat();
    let expected = printed(&shown, &of_selection);
    assert_eq!(expected[0][2], "100.0");
    assert_eq!(shown.rows(".pane.functions"), expected);
    // How much is included is said of all.
    assert_eq!(shown.text(".included"), "18.7 % of 5.23 msec included");
    shown.browser.key("e");
    shown.settle();
    let own = [&of_selection[..], &["--exclusive"]].concat();
    let expected = printed(&shown, &own);
    assert_eq!(shown.rows(".pane.functions"), expected);
    // Pies show exclusive costs whatever tables show.
    for exclusive in ["yes", ""] {
        let state = [
            ("fn", "#.Tree.Walk"),
            ("percent-of", "selection"),
            ("exclusive", exclusive),
        ];
        shown.go(&state);
        assert_eq!(shown.labels(".functions"), shares(&expected, 2));
    }
    // So do the tips of their pieces.
    let tips =
        "[...document.querySelectorAll('.functions .slice title')].map((tip) => tip.textContent)";
    let tips: Vec<String> = serde_json::from_value(shown.browser.value(tips)).expect("texts");
    assert_eq!(tips, shares(&expected, 2));
    shown.select(".tools label:nth-of-type(2) select", "total");
    let expected = printed(&shown, &["summary", "--fn", "#.Tree.Walk", "--exclusive"]);
    assert_eq!(shown.labels(".functions"), shares(&expected, 2));
    shown.was_quiet();
}

#[test]
fn blank_lines_and_lines_that_were_not_called_can_be_hidden() {
    let Some(mut shown) = browser("hidden") else {
        return;
    };
    let source = shown.folder.join("src");
    fs::create_dir(&source).expect("a folder");
    let text = "int main() {\n  // only a comment\n  int total = 0;\n\n  if (total)\n    total = 1;\n  return total;\n}\n";
    fs::write(source.join("a.c"), text).expect("a file");
    let profile = "events: Ir\nfl=a.c\nfn=main\n1 2\n3 5\n5 4\n7 2\n";
    fs::write(shown.folder.join("a.callgrind"), profile).expect("a file");
    shown.import(&shown.folder.join("a.callgrind"), &["--source", "src"]);
    shown.write(&[]);
    shown.open(&[("function", "main"), ("functions", "table")]);
    let code = |shown: &mut Shown| -> Vec<String> {
        let rows = shown.rows(".function-details");
        rows.into_iter()
            .map(|row| format!("{} {}", row[0], row[3]))
            .collect()
    };
    let all = [
        "1 int main() {",
        "2 // only a comment",
        "3 int total = 0;",
        "4 ",
        "5 if (total)",
        "6 total = 1;",
        "7 return total;",
        "8 }",
    ];
    assert_eq!(code(&mut shown), all);
    shown.click(".function-details label", "blank", ONE);
    assert_eq!(
        code(&mut shown),
        [all[0], all[2], all[4], all[5], all[6], all[7]]
    );
    shown.click(".function-details label", "uncalled", ONE);
    assert_eq!(code(&mut shown), [all[0], all[2], all[4], all[6]]);
    shown.click(".function-details label", "blank", ONE);
    assert_eq!(code(&mut shown), [all[0], all[2], all[4], all[6]]);
    shown.click(".function-details label", "uncalled", ONE);
    assert_eq!(code(&mut shown), all);
    shown.was_quiet();
}

#[test]
fn the_menu_does_what_dyalogs_does() {
    let Some(mut shown) = workspace("menu") else {
        return;
    };
    shown.select(".functions > header select", "table");
    shown.choose(".functions tbody th", "#.Shop.Load", "Drill Down");
    assert_eq!(shown.state("fn"), "#.Shop.Load");
    shown.choose(".functions tbody th", "#.Util.fmt∆Num", "Drill Down");
    assert_eq!(shown.state("fn"), "#.Shop.Load,#.Util.fmt∆Num");
    shown.choose(".functions tbody th", "#.Util.fmt∆Num", "Up 1 Level");
    assert_eq!(shown.state("fn"), "#.Shop.Load");
    // Where it was called elsewhere counts as well.
    shown.choose(".functions tbody th", "#.Util.fmt∆Num", "Make Root");
    assert_eq!(shown.state("fn"), "#.Util.fmt∆Num");
    assert_eq!(
        shown.rows(".pane.functions"),
        printed(&shown, &["summary", "--fn", "#.Util.fmt∆Num"])
    );
    shown.choose(".functions tbody th", "#.Util.fmt∆Num", "Reset");
    assert_eq!(shown.state("fn"), "");
    assert_eq!(shown.rows(".pane.functions"), printed(&shown, &["summary"]));
    // Pieces and labels of pies have the same menu.
    shown.select(".functions > header select", "pie");
    shown.choose(".functions .slice", "#.Tree.Walk", "Make Root");
    assert_eq!(shown.state("fn"), "#.Tree.Walk");
    shown.choose(".functions .legend li", "#.Util.fmt∆Num", "Drill Down");
    assert_eq!(shown.state("fn"), "#.Tree.Walk,#.Util.fmt∆Num");
    shown.was_quiet();
}

#[test]
fn calls_are_broken_down_by_functions_and_lines_that_called() {
    let Some(mut shown) = workspace("calls") else {
        return;
    };
    shown.go(&[("fn", "#.Shop.Main"), ("functions", "table")]);
    shown.choose(".functions tbody th", "#.Util.fmt∆Num", "Show Calls");
    // What was drilled into before is kept.
    let path = "#.Shop.Main,#.Util.fmt∆Num";
    assert_eq!(shown.state("fn"), path);
    assert_eq!(
        crumbs(&mut shown),
        ["all all", "indirect *#.Shop.Main", "calls <#.Util.fmt∆Num"]
    );
    assert_eq!(
        shown.rows(".pane.functions"),
        printed(&shown, &["calls", "--fn", path])
    );
    assert_eq!(
        shown.rows(".pane.lines"),
        printed(&shown, &["call_lines", "--fn", path])
    );
    // A click shows the line that called, a double click goes nowhere: calls are the last step.
    shown.click(".lines tbody th", "#.Shop.Load[3]", ONE);
    assert_eq!(
        shown.texts(".line-details tr[aria-selected=true] td:nth-child(5)"),
        ["#.Util.fmt∆Num row"]
    );
    shown.click(".functions tbody th", "#.Shop.Load", DOUBLE);
    assert_eq!(shown.state("fn"), path);
    assert!(
        shown.text(".message").contains("go up one level"),
        "{}",
        shown.text(".message")
    );
    shown.select(".functions > header select", "pie");
    let expected = printed(&shown, &["calls", "--fn", path, "--exclusive"]);
    assert_eq!(
        shown.labels(".functions"),
        shares(&expected, expected.len())
    );
    shown.click(".path button", "Up 1 Level", ONE);
    assert_eq!(shown.state("fn"), "#.Shop.Main");
    assert_eq!(shown.state("report"), "");
    shown.was_quiet();
}

/// Which panes are seen, and how wide and high they are, in percent of all of them.
fn panes(shown: &mut Shown) -> Vec<(String, i64, i64)> {
    let script = "(() => {
        const all = document.querySelector('.panes').getBoundingClientRect();
        return [...document.querySelectorAll('.pane')].filter((pane) => pane.offsetWidth > 0).map((pane) => {
            const place = pane.getBoundingClientRect();
            return [pane.classList[1], Math.round(100 * place.width / all.width), Math.round(100 * place.height / all.height)];
        });
    })()";
    serde_json::from_value(shown.browser.value(script)).expect("panes")
}

#[test]
fn windows_are_arranged_by_presets_double_clicks_and_splitters() {
    let Some(mut shown) = workspace("windows") else {
        return;
    };
    let names = |panes: &[(String, i64, i64)]| -> Vec<String> {
        panes.iter().map(|(name, ..)| name.clone()).collect()
    };
    let all = panes(&mut shown);
    assert_eq!(
        names(&all),
        ["functions", "function-details", "lines", "line-details"]
    );
    for (preset, expected) in [
        ("functions", &["functions", "function-details"][..]),
        ("function-details", &["function-details"]),
        ("lines", &["lines", "line-details"]),
        ("line-details", &["line-details"]),
    ] {
        let windows = ".tools label:last-of-type select";
        shown.select(windows, preset);
        let seen = panes(&mut shown);
        assert_eq!(names(&seen), expected);
        assert!(seen.iter().all(|(_, width, _)| *width == 100), "{seen:?}");
        shown.select(windows, "");
        assert_eq!(panes(&mut shown), all);
        // The same by a double click at the top of a pane, and back by another one.
        shown.click(&format!(".pane.{preset} > header h2"), "", DOUBLE);
        assert_eq!(names(&panes(&mut shown)), expected);
        shown.click(&format!(".pane.{preset} > header h2"), "", DOUBLE);
        assert_eq!(panes(&mut shown), all);
    }
    // Splitters are dragged, or moved by keys.
    let [x, y] = shown.place(".splitter.left", "");
    for (kind, to) in [
        ("mousePressed", x),
        ("mouseMoved", 320.0),
        ("mouseReleased", 320.0),
    ] {
        let event =
            serde_json::json!({"type": kind, "x": to, "y": y, "button": "left", "clickCount": 1});
        shown.browser.ask("Input.dispatchMouseEvent", &event);
    }
    let width = panes(&mut shown)[0].1;
    assert!((width - 25).abs() <= 1, "{width}");
    shown
        .browser
        .value("document.querySelector('.splitter.functions').focus()");
    shown.browser.key("ArrowDown");
    let height = panes(&mut shown)[0].2;
    assert!((height - all[0].2 - 5).abs() <= 1, "{height}");
    // Reset puts them where they were at first, straight away.
    shown.click(".tools button", "Reset Windows", Click::default());
    assert_eq!(panes(&mut shown), all);
    shown
        .browser
        .value("document.querySelector('.splitter.lines').focus()");
    shown.browser.key("ArrowUp");
    // What the splitters were at before comes back.
    let moved = panes(&mut shown);
    assert_ne!(moved, all);
    shown.click(".pane.lines > header h2", "", DOUBLE);
    shown.click(".pane.lines > header h2", "", DOUBLE);
    assert_eq!(panes(&mut shown), moved);
    shown.select(".tools label:last-of-type select", "lines");
    shown.click(".tools button", "Reset Windows", Click::default());
    assert_eq!(panes(&mut shown), all);
    shown.was_quiet();
}

#[test]
fn a_single_function_has_its_body_to_the_left_and_its_lines_to_the_right() {
    let text = "\"Depth\",\"Element\",\"Line\",\"Calls\",\"InclusiveTime\",\"ExclusiveTime\",\"InclusiveTicks\",\"ExclusiveTicks\"\n\
                0,\"pqueens\",,1,10,10,5,5\n1,\"pqueens\",1,1,4,4,1,1\n1,\"pqueens\",2,8,6,6,1,1\n";
    let Some(mut shown) = made("single", "single.csv", text) else {
        return;
    };
    let seen: Vec<String> = panes(&mut shown)
        .into_iter()
        .map(|(name, ..)| name)
        .collect();
    assert_eq!(seen, ["function-details", "lines"]);
    assert_eq!(shown.text(".function-details h2"), "pqueens");
    assert_eq!(shown.rows(".pane.function-details").len(), 2);
    assert_eq!(shown.rows(".pane.lines"), printed(&shown, &["lines"]));
    shown.was_quiet();
}

/// Open: another run of the page. Save: its rows. About: the version. Exit is the browser's.
#[test]
fn runs_are_opened_rows_saved_and_the_version_told() {
    let Some(mut shown) = workspace("file") else {
        return;
    };
    let other = shown.folder.join("other.folded");
    fs::write(&other, "a;b 2\na;c 1\n").expect("a file");
    shown.import(&other, &[]);
    shown.write(&["--runs", "1,2"]);
    shown.open(&[("functions", "table")]);
    assert_eq!(
        shown.rows(".pane.functions"),
        printed(&shown, &["summary", "--run", "2"])
    );
    shown.select(".tools label:first-of-type select", "1");
    assert_eq!(
        shown.rows(".pane.functions"),
        printed(&shown, &["summary", "--run", "1"])
    );
    shown.is_as_said(".pane.functions");
    for (what, name, format) in [
        ("CSV", "summary.csv", "csv"),
        ("Markdown", "summary.md", "markdown"),
    ] {
        let words = [
            "report", "summary", "--db", "x.db", "--run", "1", "--format",
        ];
        let expected = said(&shown.folder, &[&words[..], &[format]].concat());
        assert_eq!(
            shown.saved(".pane.functions", what),
            (name.to_owned(), expected)
        );
    }
    let json = shown.offered_as(".pane.functions", "JSON");
    assert_eq!(
        shown.saved(".pane.functions", "JSON"),
        ("summary.json".to_owned(), json)
    );
    shown.browser.key("?");
    shown.wait("document.querySelector('dialog[open]') !== null");
    assert!(
        shown
            .text("dialog")
            .contains(&format!("profdb {}", env!("CARGO_PKG_VERSION")))
    );
    shown.was_quiet();
}

/// Reset is a button, a key and an entry of the menu; the address without a question is the start, and has nothing of before.
#[test]
fn file_reset_is_the_start_of_the_page() {
    let Some(mut shown) = workspace("reset") else {
        return;
    };
    let start = shown.labels(".functions");
    shown.choose(".functions .legend li", "#.Tree.Walk", "Drill Down");
    assert_ne!(shown.labels(".functions"), start);
    shown.click(".path button", "Reset", ONE);
    assert_eq!(shown.labels(".functions"), start);
    assert_eq!(shown.state("fn"), "");
    shown.go(&[("fn", "#.Shop.Load"), ("exclusive", "yes")]);
    shown.browser.key("0");
    shown.settle();
    assert_eq!(crumbs(&mut shown), ["all all"]);
    shown.open(&[]);
    assert_eq!(shown.labels(".functions"), start);
    // There is nothing to be saved when the window closes: no question is asked.
    let asks = "(() => { const event = new Event('beforeunload', {cancelable: true}); return dispatchEvent(event); })()";
    assert_eq!(shown.browser.value(asks), true);
    shown.was_quiet();
}

/// Each gesture of the list above has its script.
#[test]
fn every_gesture_has_its_script() {
    let source = include_str!("gestures.rs");
    let list: Vec<&str> = source
        .lines()
        .filter_map(|line| line.strip_prefix("//! | ")?.strip_suffix("` |"))
        .collect();
    assert!(list.len() >= 37, "{}", list.len());
    for row in list {
        let (gesture, script) = row.rsplit_once(" | `").expect("two cells");
        let is_test = source.contains(&format!("#[test]\nfn {script}() {{"));
        assert!(is_test, "{gesture}: there is no {script}");
    }
}

/// All of it by keys.
#[test]
fn keys_do_what_the_mouse_does() {
    let Some(mut shown) = workspace("keys") else {
        return;
    };
    shown.go(&[("functions", "table")]);
    shown
        .browser
        .value("document.querySelector('.functions tbody tr').focus()");
    shown.browser.key("ArrowDown");
    shown.settle();
    assert_eq!(shown.state("function"), "#.Shop.Load");
    assert_eq!(shown.text(".function-details h2"), "#.Shop.Load");
    shown.browser.key("Enter");
    shown.settle();
    assert_eq!(shown.state("fn"), "#.Shop.Load");
    shown
        .browser
        .value("document.querySelectorAll('.functions tbody tr')[1].focus()");
    shown.browser.key("c");
    shown.settle();
    assert_eq!(
        [shown.state("fn"), shown.state("report")],
        ["#.Shop.Load,#.Util.fmt∆Num", "calls"]
    );
    shown.browser.key("Backspace");
    shown.settle();
    assert_eq!(
        [shown.state("fn"), shown.state("report")],
        ["#.Shop.Load", ""]
    );
    shown
        .browser
        .value("document.querySelectorAll('.functions tbody tr')[1].focus()");
    shown.browser.key("r");
    shown.settle();
    assert_eq!(shown.state("fn"), "#.Util.fmt∆Num");
    shown.browser.key("0");
    shown.settle();
    assert_eq!(shown.state("fn"), "");
    for (key, view) in [
        ("2", "overview"),
        ("3", "flame"),
        ("4", "tree"),
        ("5", "calls"),
        ("6", "source"),
        ("7", "sql"),
        ("1", ""),
    ] {
        shown.browser.key(key);
        shown.settle();
        assert_eq!(shown.state("view"), view);
    }
    // Every part of a pie can be reached.
    shown.go(&[]);
    shown
        .browser
        .value("document.querySelector('.functions .slice').focus()");
    shown.browser.key("ArrowRight");
    shown.browser.key("Enter");
    shown.settle();
    assert_eq!(shown.state("fn"), "#.Util.fmt∆Num");
    shown.was_quiet();
}

/// Labels are the command's `--label`: rows, statement and pictures are of samples that have all that are chosen.
#[test]
fn samples_are_chosen_by_their_labels() {
    let Some(mut shown) = browser("labels") else {
        return;
    };
    shown.import(&repository("tests/cases/pprof/labels/case.in/run.pb"), &[]);
    shown.write(&[]);
    shown.open(&[("functions", "table")]);
    let whole = shown.rows(".pane.functions");
    assert_eq!(whole.len(), 3, "{whole:?}");
    let offered = shown.texts(".tools select:has(option[value='thread=main']) option");
    assert_eq!(
        offered,
        [
            "all",
            "bytes",
            "bytes=64",
            "thread",
            "thread=io",
            "thread=main"
        ]
    );
    shown.select(
        ".tools select:has(option[value='thread=main'])",
        "thread=main",
    );
    assert_eq!(shown.state("label"), "thread=main");
    assert_eq!(
        shown.rows(".pane.functions"),
        [["alpha", "10", "33.3"], ["beta", "10", "33.3"]]
    );
    assert_eq!(shown.text(".included"), "33.3 % of 30 ns included");
    let answer = shown.is_as_said(".pane.functions");
    assert_eq!(answer["selected"], 10);
    let offered = shown.offered_as(".pane.functions", "Command");
    assert!(offered.contains("--label=thread=main"), "{offered}");
    // Two labels: samples have both.
    shown.select(".tools select:has(option[value='bytes=64'])", "bytes=64");
    assert_eq!(shown.texts(".tools .chip"), ["thread=main ×", "bytes=64 ×"]);
    shown.is_as_said(".pane.functions");
    shown.is_as_said(".pane.lines");
    shown.click(".tools .chip", "thread=main", Click::default());
    assert_eq!(shown.state("label"), "bytes=64");
    shown.browser.value("history.back()");
    shown.wait("[...document.querySelectorAll('.tools .chip')].length === 2");
    shown.settle();
    // No sample has both of these.
    shown.go(&[
        ("label", "thread=io"),
        ("fn", "beta"),
        ("functions", "table"),
    ]);
    let said = shown.text("main");
    assert!(said.contains("follows the path"), "{said}");
    shown.go(&[("label", "thread=nobody"), ("functions", "table")]);
    let said = shown.text("main");
    assert!(said.contains("has the label"), "{said}");
    shown.was_quiet();
}

#[test]
fn labels_leave_the_same_as_the_command() {
    for case in ["labels", "labels-of-many-keys", "go-cpu"] {
        let Some(mut shown) = browser(&format!("labels-of-{case}")) else {
            return;
        };
        let folder = repository(&format!("tests/cases/pprof/{case}/case.in"));
        let file = std::fs::read_dir(folder).expect("a folder").next();
        shown.import(&file.expect("a file").expect("a file").path(), &[]);
        shown.write(&[]);
        let ask = |statement: &str| -> Vec<String> {
            let words = ["sql", statement, "--db", "x.db", "--format", "jsonl"];
            let rows = said(&shown.folder, &words);
            let rows = rows
                .lines()
                .map(|row| serde_json::from_str(row).expect("JSON"));
            rows.map(|row: Value| row["x"].as_str().expect("text").to_owned())
                .collect()
        };
        let labels = ask(
            "SELECT DISTINCT key || '=' || value || unit AS x FROM label_sets ORDER BY x LIMIT 2",
        );
        let Some(label) = labels.last() else {
            continue;
        };
        let key = label.split_once('=').expect("a key").0;
        let paths = ask(
            "SELECT '\"' || REPLACE(function, '\"', '\"\"') || '\"' AS x FROM function_labels WHERE exclusive > 0 \
             ORDER BY exclusive DESC, function LIMIT 1",
        );
        for label in [label.as_str(), key] {
            shown.open(&[("label", label), ("exclusive", "yes"), ("lines", "pie")]);
            shown.is_as_said(".pane.functions");
            shown.is_as_said(".pane.lines");
            shown.go(&[("label", label), ("view", "tree")]);
            shown.is_as_said(".tools");
            shown.go(&[("label", label), ("view", "flame")]);
            shown.is_as_said(".tools");
        }
        for path in &paths {
            let state = [("label", key), ("fn", path.as_str())];
            shown.go(&[
                &state[..],
                &[("percent-of", "selection"), ("functions", "table")],
            ]
            .concat());
            shown.is_as_said(".pane.functions");
            shown.is_as_said(".pane.lines");
            shown.go(&[&state[..], &[("view", "calls")]].concat());
            shown.is_as_said(".columns section:nth-child(1)");
            shown.is_as_said(".columns section:nth-child(2)");
        }
        shown.was_quiet();
    }
}
