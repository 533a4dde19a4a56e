//! Budgets, as files state them for `profdb gate`.

use profdb::gate::budget::{Change, Limit};
use profdb::gate::{self, Base, Budget};

fn read(text: &str) -> Budget {
    gate::read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn budget_with_every_form_of_rule_is_read() {
    let budget = read(concat!(
        "base  branch=main,host=same last 10        # or: base file baseline.db | base name=release-3\n",
        "noise 3 runs                                    # at least, else the answer is \"unclear\"\r\n",
        "\ttotal            <= +2 %\n",
        "fn 'parse*'      <= +5 %    or 0.2 ms           # the larger of the two\n",
        "fn 'render'      <= 30 % of total   cumulative\n",
        "module 'alloc'   <= 120 MB  metric alloc        # absolute\n",
        "calls 'db.query' <= 40                          # exact\n",
        "new              <= 1 % of total                # all new functions together\n",
        "any              <= +10 %   unless 'test_*' unless \"a#b\"\n",
        "sum fn 'it''s *'<=+.5% base name=release # x\n",
        "file \"a*\"<=0 metric 'wall time' base file 'my base.db'\n",
        "\n# nothing\n",
    ));
    let rules: Vec<String> = budget
        .rules
        .iter()
        .map(|rule| {
            format!(
                "{}:{} {:?} {:?} sum {} {:?} {:?} {} {:?}",
                rule.place.line,
                rule.place.column,
                rule.thing,
                rule.pattern.as_ref().map(|pattern| &pattern.text),
                rule.is_sum,
                rule.metric.as_ref().map(|(name, _)| name),
                rule.unless
                    .iter()
                    .map(|pattern| &pattern.text)
                    .collect::<Vec<_>>(),
                rule.cumulative,
                rule.base,
            )
        })
        .collect();
    assert_eq!(
        rules,
        [
            "3:2 Total None sum false None [] false None",
            "4:1 Function Some(\"parse*\") sum false None [] false None",
            "5:1 Function Some(\"render\") sum false None [] true None",
            "6:1 Module Some(\"alloc\") sum false Some(\"alloc\") [] false None",
            "7:1 Calls Some(\"db.query\") sum false None [] false None",
            "8:1 New None sum false None [] false None",
            "9:1 Any None sum false None [\"test_*\", \"a#b\"] false None",
            "10:1 Function Some(\"it's *\") sum true None [] false Some(Runs { set: Tagged { tags: [Tag { key: \"name\", value: \"release\" }], last: None }, same: [] })",
            "11:1 File Some(\"a*\") sum false Some(\"wall time\") [] false Some(File(\"my base.db\"))",
        ]
    );
    assert_eq!(budget.fewest, Some(3));
    let Some(Base::Runs { set, same }) = &budget.base else {
        panic!("expected runs: {:?}", budget.base);
    };
    assert_eq!(
        (set.to_string().as_str(), same.as_slice()),
        ("branch=main last 10", &["host".to_owned()][..])
    );
    let texts: Vec<&str> = budget.rules.iter().map(|rule| rule.text.as_str()).collect();
    assert_eq!(texts[1], "fn 'parse*' <= +5 % or 0.2 ms");
    assert_eq!(texts[7], "sum fn 'it''s *'<=+.5% base name=release");
    let Limit::Change(changes) = &budget.rules[1].limit else {
        panic!("expected changes");
    };
    assert_eq!(changes[0], Change::Percent(5.0));
    let Change::Amount(amount) = &changes[1] else {
        panic!("expected an amount");
    };
    assert_eq!(amount.of("time", "ns"), Ok(200_000.0));
    assert!(amount.of("allocated", "bytes").is_err());
    let Limit::Amount(amount) = &budget.rules[3].limit else {
        panic!("expected an amount");
    };
    assert_eq!(amount.of("alloc", "bytes"), Ok(120e6));
}

#[test]
fn name_in_single_quotes_is_a_pattern() {
    let table = [
        ("'parse*'", "parse_all", true),
        ("'parse*'", "a.parse", false),
        ("'p?rse'", "pärse", true),
        ("'*'", "a\nb", true),
        ("'a.b'", "axb", false),
        ("\"operator*\"", "operator*", true),
        ("\"operator*\"", "operator**", false),
        ("'[x]*'", "[x](y)", true),
        ("''", "", true),
    ];
    for (text, name, expected) in table {
        let budget = read(&format!("fn {text} <= 1 s"));
        let pattern = budget.rules[0].pattern.as_ref().expect("a pattern");
        assert_eq!(pattern.fits(name), expected, "{text} {name:?}");
    }
}

#[test]
fn budget_with_a_mistake_reports_place_and_remedy() {
    let table = [
        (
            "totl <= +2 %",
            "line 1 column 1: expected a rule (`total`, `fn 'NAME'`, `module`, `file`, `calls`, `sum`, `new` or `any`), `base` or `noise`, found \"totl <= +2 %\"; did you mean total",
        ),
        (
            "\n total < +2 %",
            "line 2 column 8: expected `<=`, found \"< +2 %\"",
        ),
        (
            "total <= 2 %",
            "line 1 column 13: expected `of total` (a share), or `+` before the number (a change), found the end of the line",
        ),
        (
            "total <= -2 %",
            "line 1 column 10: expected a limit: `+5 %` (a change), `120 ms` (an amount) or `30 % of total` (a share), found \"-2 %\"",
        ),
        (
            "total <= + %",
            "line 1 column 12: expected a number, such as 5 or 0.2, found \"%\"",
        ),
        (
            "total <= +0,2 %",
            "line 1 column 12: expected a decimal point, or the end of the number, found \",2 %\"",
        ),
        (
            "fn parse <= +2 %",
            "line 1 column 4: expected a name in quotes, such as 'parse*' (a pattern) or \"operator*\" (as it is), found \"parse <= +2 %\"",
        ),
        (
            "fn 'parse <= +2 %",
            "line 1 column 4: expected a name with a quote at its end, found \"'parse <= +2 %\"",
        ),
        (
            "fn 'ä' <= 5 mses",
            "line 1 column 13: expected a unit (ns, us, ms, s, B, kB, KiB, MB, MiB, GB, GiB, k, M), `%`, or an option (or, cumulative, metric, unless, base), found \"mses\"; did you mean ms, M, s",
        ),
        (
            "fn 'a' <= +5 % cumulativ",
            "line 1 column 16: expected `or` and another limit, `cumulative`, `metric NAME`, `unless 'NAME'`, `base RUNS`, a comment (`#`) or the end of the line, found \"cumulativ\"; did you mean cumulative",
        ),
        (
            "fn 'a' <= 3 % of totl",
            "line 1 column 18: expected `total`, found \"totl\"; did you mean total",
        ),
        (
            "sum total <= 3 s",
            "line 1 column 5: expected `fn`, `module`, `file` or `calls`, found \"total <= 3 s\"",
        ),
        (
            "new <= +3 %",
            "line 1 column 8: expected a share (`1 % of total`) or an amount (`5 ms`), found a change: a new function has no baseline",
        ),
        (
            "noise many runs",
            "line 1 column 7: expected a number of runs, such as `noise 3 runs`, found \"many runs\"",
        ),
        (
            "noise 3 rins",
            "line 1 column 9: expected `runs`, found \"rins\"; did you mean runs",
        ),
        (
            "noise 3 runs x",
            "line 1 column 14: expected a comment (`#`) or the end of the line, found \"x\"",
        ),
        (
            "base",
            "line 1 column 5: expected runs, such as `base branch=main last 10`, or `base file NAME`, found the end of the line",
        ),
        (
            "base branch=main lst 10\ntotal <= +1 %",
            "line 1 column 18: expected a comma, `last` and a number, or the end, and a value with a blank or comma in quotes, found \"lst 10\"",
        ),
        (
            "base a=1\nbase a=2\ntotal <= +1 %",
            "line 2 column 1: expected one line `base`, found another one, as in line 1",
        ),
        (
            "# nothing\n",
            "line 1 column 1: expected a rule, such as `total <= +5 %`, found none in the file",
        ),
        (
            "",
            "line 1 column 1: expected a rule, such as `total <= +5 %`, found none in the file",
        ),
        (
            "total <= 1 s or 2 s",
            "line 1 column 17: expected one absolute limit, found a second one: only the larger one has an effect",
        ),
        (
            "fn 'a' <= +1 % or 2 % of total",
            "line 1 column 19: expected another change, such as `or 0.2 ms`, found a share of the total; write it as a separate rule",
        ),
    ];
    for (text, expected) in table {
        let error = gate::read(text.as_bytes()).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
    let error = gate::read(b"total <= +1 %\nfn 'a\xffb' <= +1 %").expect_err("no UTF-8");
    assert_eq!(
        error.to_string(),
        "line 2 column 6: expected UTF-8, found the byte 0xff"
    );
}
