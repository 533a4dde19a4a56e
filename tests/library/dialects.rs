//! Statements in the SQL of other engines.

use profdb::report::{Dialect, spelled};

#[test]
fn statement_for_sqlite_is_rewritten_for_engines() {
    let cases = [
        (
            "SELECT IIF(a = 1, 'x', IIF(b, ', ', c)) FROM t",
            Dialect::Spark,
            "SELECT CASE WHEN a = 1 THEN 'x' ELSE CASE WHEN b THEN ', ' ELSE c END END FROM t",
        ),
        (
            "SELECT ROW_NUMBER() OVER best AS rank, SUM(x) OVER (best ROWS UNBOUNDED PRECEDING) FROM (SELECT 1) AS t WINDOW best AS (ORDER BY x DESC, y)",
            Dialect::DuckDb,
            "SELECT ROW_NUMBER() OVER (ORDER BY x DESC NULLS LAST, y NULLS FIRST) AS rank, \
             SUM(x) OVER (ORDER BY x DESC NULLS LAST, y NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM (SELECT 1) AS t",
        ),
        (
            "SELECT t.x FROM t JOIN e ON t.line IS e.line AND t.col IS NULL AND e.x IS NOT NULL",
            Dialect::ClickHouse,
            "SELECT t_.x AS x FROM t_ JOIN e_ ON t_.line IS NOT DISTINCT FROM e_.line AND t_.col IS NULL AND e_.x IS NOT NULL",
        ),
        (
            "SELECT c.line IS e.line FROM t",
            Dialect::DuckDb,
            "SELECT c.line IS NOT DISTINCT FROM e.line FROM t",
        ),
        (
            "SELECT MAX(a, b), MAX(c), TOTAL(d) FROM t WHERE s.outermost AND x = 'it''s \\ so' ORDER BY a LIMIT 3",
            Dialect::ClickHouse,
            "SELECT GREATEST(a_, b_), MAX(c_), COALESCE(SUM(d_), 0.0) FROM t_ WHERE s_.outermost = 1 AND x_ = 'it\\'s \\\\ so' ORDER BY a_ NULLS FIRST LIMIT 3",
        ),
        (
            "SELECT COALESCE(n.node_id > MAX(n.last_id) OVER (ORDER BY n.node_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 1) AS outermost, COALESCE(a, 1)",
            Dialect::DuckDb,
            "SELECT CASE WHEN NOT (n.node_id > MAX(n.last_id) OVER (ORDER BY n.node_id NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) THEN 0 ELSE 1 END AS outermost, COALESCE(a, 1)",
        ),
        (
            "SELECT 1 FROM a AS b CROSS JOIN c AS d ON d.x = b.x CROSS JOIN e AS f WHERE f.x = 1",
            Dialect::Spark,
            "SELECT 1 FROM a AS b JOIN c AS d ON d.x = b.x CROSS JOIN e AS f WHERE f.x = 1",
        ),
        (
            "SELECT f.id, SUM(n.x) AS x, n.y\nFROM (SELECT DISTINCT c.id, 1.5 FROM c) AS f GROUP BY f.id, n.y",
            Dialect::ClickHouse,
            "SELECT f_.id AS id, SUM(n_.x) AS x_, n_.y AS y\nFROM (SELECT DISTINCT c_.id AS id, 1.5 FROM c_) AS f_ GROUP BY f_.id, n_.y",
        ),
        (
            "SELECT CASE WHEN COUNT(e.calls) THEN SUM(e.calls / 4294967296) * 4294967296 + SUM(e.calls - e.calls / 4294967296 * 4294967296) END AS calls, SUM(IIF(a, b, c / 4294967296)) FROM e",
            Dialect::Spark,
            "SELECT CASE WHEN COUNT(e.calls) THEN SUM(e.calls) END AS calls, SUM(CASE WHEN a THEN b ELSE c / 4294967296 END) FROM e",
        ),
        (
            "SELECT CAST(a AS TEXT), CAST(b AS DOUBLE) WHERE r.cum_pct <= 65.0 + 1e-9",
            Dialect::ClickHouse,
            "SELECT CAST(a_ AS Nullable(String)), CAST(b_ AS Nullable(Float64)) WHERE r_.cum_pct <= 65.0 + 1e-9",
        ),
    ];
    for (sql, dialect, expected) in cases {
        assert_eq!(spelled(sql, dialect), expected);
    }
}
