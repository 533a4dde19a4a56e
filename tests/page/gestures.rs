//! Every gesture of Dyalog's dashboard ("Tuning Applications Using the ]PROFILE User Command", chapter 4), with the figures that
//! it has to show: those of the command, which prints the same. The gestures in the order of the chapter, each with the
//! script that does it here. After each gesture all that the panes show is compared with what commands print (`panes.rs`):
//!
//! | gesture | script |
//! | --- | --- |
//! | functions to the left, as a pie; lines to the right, as a table; source below each | `functions_are_a_pie_and_lines_a_table_and_each_can_be_the_other` |
//! | the drop-down at the top of each side: pie or table | `functions_are_a_pie_and_lines_a_table_and_each_can_be_the_other` |
//! | splitters are dragged | `windows_are_arranged_by_presets_double_clicks_and_splitters` |
//! | click on a piece: the source of the function below | `a_click_shows_the_source_below` |
//! | click on a label of a piece, or on a row: the same | `a_click_shows_the_source_below` |
//! | source within what was drilled into, the line that was clicked marked | `a_click_shows_the_source_below` |
//! | double click on a row, a piece or a label, of functions or lines: drill down | `a_double_click_drills_down_and_crumbs_lead_back` |
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
//! | both, in each of the panes below | `lines_are_hidden_in_both_panes_below` |
//! | right click on a piece, a label, a row, of functions or lines: the menu | `each_entry_of_the_menu_does_the_same_everywhere` |
//! | Drill Down | `the_menu_does_what_dyalogs_does` |
//! | Make Root | `the_menu_does_what_dyalogs_does` |
//! | Show Calls, what was drilled into before is kept | `calls_are_broken_down_by_functions_and_lines_that_called` |
//! | no way down from calls | `calls_are_broken_down_by_functions_and_lines_that_called` |
//! | Reset | `the_menu_does_what_dyalogs_does` |
//! | Up 1 Level: the crumb before the last | `each_entry_of_the_menu_does_the_same_everywhere` |
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

use super::browser;
use crate::panes::Printed;
use crate::shown::{DIRECT, DOUBLE, Shown, repository, said};
use crate::support::browser::Click;

pub(super) const ONE: Click = Click {
    times: 1,
    button: "left",
    alt: false,
};

/// The profile of a workspace, with its source.
pub(super) fn workspace(test: &str) -> Shown {
    let mut shown = browser(test);
    let case = repository("tests/cases/cli/code-of-a-workspace");
    let source = case.join("apl").display().to_string();
    shown.import(&case.join("run.xml"), &["--source", &source]);
    shown.write(&[]);
    shown.open(&[]);
    shown
}

/// A profile that is made for a test.
pub(super) fn made(test: &str, name: &str, text: &str) -> Shown {
    let mut shown = browser(test);
    let file = shown.folder.join(name);
    fs::write(&file, text).expect("a file");
    shown.import(&file, &[]);
    shown.write(&[]);
    shown.open(&[]);
    shown
}

/// The rows of a table that the command prints, cell by cell.
pub(super) fn printed(shown: &Shown, words: &[&str]) -> Vec<Vec<String>> {
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
pub(super) fn crumbs(shown: &mut Shown) -> Vec<String> {
    let script = "[...document.querySelectorAll('.crumb')].map((crumb) => `${crumb.classList[1]} ${crumb.innerText}`)";
    serde_json::from_value(shown.browser.value(script)).expect("texts")
}

#[test]
fn functions_are_a_pie_and_lines_a_table_and_each_can_be_the_other() {
    let mut shown = workspace("layout");
    let mut told = Printed::default();
    told.are_shown(&mut shown);
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
    for (functions, lines) in [("table", "pie"), ("pie", "pie"), ("table", "table")] {
        shown.select(".functions > header select", functions);
        shown.select(".lines > header select", lines);
        told.are_shown(&mut shown);
    }
    shown.was_quiet();
}

#[test]
fn a_click_shows_the_source_below() {
    let mut shown = workspace("click");
    let mut told = Printed::default();
    shown.click(".functions .slice", "#.Tree.Walk", ONE);
    told.are_shown(&mut shown);
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
    told.are_shown(&mut shown);
    shown.is_as_said(".pane.function-details");
    shown.is_as_said(".pane.line-details");
    // What was not called within what is selected is shown with all its calls, and that is said.
    shown.go(&[("fn", "#.Shop.Load"), ("function", "#.Num.Odd")]);
    told.are_shown(&mut shown);
    let about = shown.text(".function-details .said");
    assert!(about.contains("not called within"), "{about}");
    shown.go(&[("fn", "#.Shop.Main"), ("function", "#.Num.Odd")]);
    told.are_shown(&mut shown);
    assert_eq!(shown.texts(".function-details .said"), Vec::<String>::new());
    shown.go(&[]);
    // Labels of a pie, rows of functions, and pieces of lines.
    shown.click(".functions .legend li", "#.Shop.Price", ONE);
    assert_eq!(shown.state("function"), "#.Shop.Price");
    told.are_shown(&mut shown);
    shown.select(".functions > header select", "table");
    shown.click(".functions tbody th", "#.Num.Odd", ONE);
    assert_eq!(shown.state("function"), "#.Num.Odd");
    shown.select(".lines > header select", "pie");
    for (selector, line) in [
        (".lines .slice", "#.Shop.Load[1]"),
        (".lines .legend li", "#.Tree.Walk[2]"),
    ] {
        shown.click(selector, line, ONE);
        let of = format!("{}[{}]", shown.state("line-of"), shown.state("line"));
        assert_eq!(of, line);
        told.are_shown(&mut shown);
    }
    shown.was_quiet();
}

#[test]
fn a_double_click_drills_down_and_crumbs_lead_back() {
    let mut shown = workspace("drill");
    let mut told = Printed::default();
    shown.select(".functions > header select", "table");
    assert_eq!(crumbs(&mut shown), ["all all"]);
    assert_eq!(shown.text(".included"), "100.0 % of 5.23 msec included");
    told.are_shown(&mut shown);
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
    told.are_shown(&mut shown);
    // A row of lines drills down as well, and the way back is that of the browser, too.
    shown.click(".crumb", "*#.Shop.Load", ONE);
    assert_eq!(shown.state("fn"), "#.Shop.Load");
    told.are_shown(&mut shown);
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
    told.are_shown(&mut shown);
    // So do pieces and labels of pies.
    for (pane, selector, piece, path) in [
        ("functions", ".slice", "#.Tree.Walk", "#.Tree.Walk"),
        (
            "functions",
            ".legend li",
            "#.Util.fmt∆Num",
            "#.Util.fmt∆Num",
        ),
        ("lines", ".slice", "#.Shop.Load[1]", "#.Shop.Load"),
        ("lines", ".legend li", "#.Tree.Walk[2]", "#.Tree.Walk"),
    ] {
        shown.go(&[("lines", "pie")]);
        shown.click(&format!(".{pane} {selector}"), piece, DOUBLE);
        assert_eq!(shown.state("fn"), path, "{pane} {selector}");
        told.are_shown(&mut shown);
        shown.browser.value("history.back()");
        shown.wait("!location.hash.includes('fn=')");
        shown.settle();
        told.are_shown(&mut shown);
    }
    shown.go(&[("fn", "#.Shop.Load"), ("functions", "table")]);
    shown.click(".crumb", "all", ONE);
    assert_eq!(crumbs(&mut shown), ["all all"]);
    assert_eq!(shown.rows(".pane.functions"), printed(&shown, &["summary"]));
    shown.was_quiet();
}

/// Dyalog's first crumb is blue if one function has called all others; `>` is a direct call, which Dyalog cannot select.
#[test]
fn crumbs_tell_direct_calls_from_others() {
    let text = "Rain;Step;Set;Q 5\nRain;Set;Q 4\nRain;Q 2\nRain;Step;Set 1\n";
    let mut shown = made("crumbs", "rain.folded", text);
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
    let mut told = Printed::default();
    told.are_shown(&mut shown);
    // Each crumb leads to what it names; the first one to all.
    for (crumb, path) in [("*Set", "Set"), (">Rain", "")] {
        shown.click(".crumb", crumb, ONE);
        assert_eq!(shown.state("fn"), path);
        told.are_shown(&mut shown);
    }
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
    told.are_shown(&mut shown);
    shown.was_quiet();
}

#[test]
fn shares_are_of_all_or_of_the_selection_and_costs_inclusive_or_exclusive() {
    let mut shown = workspace("options");
    // Every choice with every other one, in both panes, and in the source of what was clicked.
    let mut told = Printed::default();
    shown.go(&[
        ("fn", "#.Shop.Main"),
        ("function", "#.Shop.Load"),
        ("line-of", "#.Tree.Walk"),
        ("line", "2"),
    ]);
    for of in ["selection", "total"] {
        shown.select(".tools label:nth-of-type(2) select", of);
        for own in ["yes", "no"] {
            shown.select(".tools label:nth-of-type(3) select", own);
            for display in ["table", "pie"] {
                shown.select(".functions > header select", display);
                shown.select(".lines > header select", display);
                told.are_shown(&mut shown);
            }
        }
    }
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
    let mut shown = browser("hidden");
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

/// Both panes below have these boxes, and figures stay beside their lines.
#[test]
fn lines_are_hidden_in_both_panes_below() {
    let mut shown = workspace("hidden-figures");
    let mut told = Printed::default();
    shown.go(&[
        ("function", "#.Shop.Load"),
        ("line-of", "#.Shop.Main"),
        ("line", "2"),
    ]);
    let mut counts = Vec::new();
    for (pane, what) in [
        ("function-details", "uncalled"),
        ("line-details", "blank"),
        ("line-details", "uncalled"),
        ("function-details", "blank"),
    ] {
        counts.push(["function", "line"].map(|pane| shown.rows(&format!(".{pane}-details")).len()));
        shown.click(&format!(".{pane} label"), what, ONE);
        told.are_shown(&mut shown);
    }
    assert!(counts.iter().any(|count| *count != counts[0]), "{counts:?}");
    shown.was_quiet();
}

#[test]
fn the_menu_does_what_dyalogs_does() {
    let mut shown = workspace("menu");
    let mut told = Printed::default();
    shown.select(".functions > header select", "table");
    shown.choose(".functions tbody th", "#.Shop.Load", "Drill Down");
    assert_eq!(shown.state("fn"), "#.Shop.Load");
    told.are_shown(&mut shown);
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
    told.are_shown(&mut shown);
    shown.was_quiet();
}

/// The menu is the same wherever it is opened: on a row, a piece or a label, of functions or of lines.
#[test]
fn each_entry_of_the_menu_does_the_same_everywhere() {
    let mut shown = workspace("menus");
    let mut told = Printed::default();
    let within = "#.Shop.Main";
    for (pane, name) in [
        ("functions", "#.Util.fmt∆Num"),
        ("lines", "#.Util.fmt∆Num["),
    ] {
        for (display, selector) in [
            ("table", "tbody th"),
            ("pie", ".slice"),
            ("pie", ".legend li"),
        ] {
            for (entry, fn_, report) in [
                ("Drill Down", "#.Shop.Main,#.Util.fmt∆Num", ""),
                (
                    "Drill Down, direct calls only",
                    "#.Shop.Main>#.Util.fmt∆Num",
                    "",
                ),
                ("Make Root", "#.Util.fmt∆Num", ""),
                ("Show Calls", "#.Shop.Main,#.Util.fmt∆Num", "calls"),
                ("Reset", "", ""),
                ("Up 1 Level", "", ""),
            ] {
                shown.go(&[("fn", within), (pane, display)]);
                shown.choose(&format!(".{pane} {selector}"), name, entry);
                let about = format!("{pane} {selector}: {entry}");
                let found = [shown.state("fn"), shown.state("report")];
                assert_eq!(found, [fn_, report], "{about}");
                told.are_shown(&mut shown);
            }
        }
    }
    // Up 1 Level is the crumb before the last.
    let deep = [
        ("fn", "#.Shop.Main,#.Shop.Load,#.Util.fmt∆Num"),
        ("functions", "table"),
    ];
    shown.go(&deep);
    shown.choose(".functions tbody th", "#.Util.fmt∆Num", "Up 1 Level");
    let up = shown.state("fn");
    told.are_shown(&mut shown);
    shown.go(&deep);
    shown.click(".crumb", "*#.Shop.Load", ONE);
    assert_eq!([shown.state("fn"), up], ["#.Shop.Main,#.Shop.Load"; 2]);
    shown.was_quiet();
}

#[test]
fn calls_are_broken_down_by_functions_and_lines_that_called() {
    let mut shown = workspace("calls");
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
    let mut told = Printed::default();
    told.are_shown(&mut shown);
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
    told.are_shown(&mut shown);
    shown.click(".path button", "Up 1 Level", ONE);
    told.are_shown(&mut shown);
    assert_eq!(shown.state("fn"), "#.Shop.Main");
    assert_eq!(shown.state("report"), "");
    shown.was_quiet();
}

/// Each gesture of the list above has its script.
#[test]
fn every_gesture_has_its_script() {
    let source = include_str!("gestures.rs");
    let all = [source, include_str!("windows.rs")];
    let list: Vec<&str> = source
        .lines()
        .filter_map(|line| line.strip_prefix("//! | ")?.strip_suffix("` |"))
        .collect();
    assert!(list.len() >= 39, "{}", list.len());
    for row in list {
        let (gesture, script) = row.rsplit_once(" | `").expect("two cells");
        let script_of = format!("#[test]\nfn {script}() {{");
        let is_test = all.iter().any(|source| source.contains(&script_of));
        assert!(is_test, "{gesture}: there is no {script}");
    }
}

/// All of it by keys.
#[test]
fn keys_do_what_the_mouse_does() {
    let mut shown = workspace("keys");
    let mut told = Printed::default();
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
    told.are_shown(&mut shown);
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
    told.are_shown(&mut shown);
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
        ("1", "panes"),
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
    shown.browser.key(" ");
    shown.settle();
    assert_eq!(shown.state("function"), "#.Util.fmt∆Num");
    told.are_shown(&mut shown);
    shown.browser.key("Enter");
    shown.settle();
    assert_eq!(shown.state("fn"), "#.Util.fmt∆Num");
    told.are_shown(&mut shown);
    // One of them is reached by Tab, and the others by arrows from there, by Home and by End.
    shown.go(&[("functions", "pie")]);
    let stops = "document.querySelectorAll('.functions .slice[tabindex=\"0\"]').length";
    let name = "document.activeElement.getAttribute('aria-label')";
    let last = "[...document.querySelectorAll('.functions .slice[tabindex]')].at(-1).getAttribute('aria-label')";
    shown
        .browser
        .value("document.querySelector('.functions .slice').focus()");
    let first = shown.browser.value(name);
    let last = shown.browser.value(last);
    for (key, expected) in [
        ("End", &last),
        ("ArrowRight", &first),
        ("ArrowLeft", &last),
        ("Home", &first),
    ] {
        shown.browser.key(key);
        assert_eq!(&shown.browser.value(name), expected, "{key}");
        assert_eq!(shown.browser.value(stops), 1, "{key}");
    }
    assert_ne!(first, last);
    shown.was_quiet();
}
