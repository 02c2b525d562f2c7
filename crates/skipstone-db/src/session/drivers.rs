//! Sessions by sqlx: the same calls for each of its engines.

macro_rules! driver {
    ($engine:ident, $database:ty) => {
        pub(super) mod $engine {
            use crate::account::Account;
            use crate::dialect::Statement;
            use crate::error::Outcome;
            use crate::value::Value;
            use sqlx::pool::PoolConnection;
            use sqlx::query::Query;
            use sqlx::{AssertSqlSafe, Database, Row};

            type Link = PoolConnection<$database>;
            type DatabaseRow = <$database as Database>::Row;

            fn query(
                statement: &Statement,
                arguments: &[Value],
            ) -> Query<'static, $database, <$database as Database>::Arguments> {
                let mut query = sqlx::query(AssertSqlSafe(statement.sql().clone()));
                for argument in arguments {
                    query = match argument {
                        Value::Int(number) => query.bind(*number),
                        Value::Text(text) => query.bind(text.clone()),
                    };
                }
                query
            }

            fn account(row: &DatabaseRow) -> Result<Account, sqlx::Error> {
                Ok(Account {
                    id: row.try_get(0)?,
                    name: row.try_get(1)?,
                    score: row.try_get(2)?,
                    rating: row.try_get(3)?,
                    balance: row.try_get(4)?,
                })
            }

            fn all(rows: &[DatabaseRow]) -> Outcome<Vec<Account>> {
                Ok(rows.iter().map(account).collect::<Result<_, _>>()?)
            }

            pub(crate) async fn script(link: &mut Link, sql: &str) -> Outcome<()> {
                sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut **link).await?;
                Ok(())
            }

            pub(crate) async fn execute(link: &mut Link, statement: &Statement, arguments: &[Value]) -> Outcome<u64> {
                Ok(query(statement, arguments).execute(&mut **link).await?.rows_affected())
            }

            pub(crate) async fn execute_text(link: &mut Link, sql: &str) -> Outcome<u64> {
                Ok(sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut **link).await?.rows_affected())
            }

            pub(crate) async fn accounts(
                link: &mut Link,
                statement: &Statement,
                arguments: &[Value],
            ) -> Outcome<Vec<Account>> {
                all(&query(statement, arguments).fetch_all(&mut **link).await?)
            }

            pub(crate) async fn accounts_text(link: &mut Link, sql: &str) -> Outcome<Vec<Account>> {
                all(&sqlx::raw_sql(AssertSqlSafe(sql)).fetch_all(&mut **link).await?)
            }

            pub(crate) async fn word(link: &mut Link, sql: &str) -> Outcome<String> {
                Ok(sqlx::query(AssertSqlSafe(sql)).fetch_one(&mut **link).await?.try_get(0)?)
            }

            pub(crate) async fn numbers(
                link: &mut Link,
                statement: &Statement,
                arguments: &[Value],
            ) -> Outcome<Vec<i64>> {
                let rows = query(statement, arguments).fetch_all(&mut **link).await?;
                let mut numbers = Vec::with_capacity(rows.len());
                for row in &rows {
                    for column in 0..row.len() {
                        numbers.push(row.try_get(column)?);
                    }
                }
                Ok(numbers)
            }
        }
    };
}

driver!(sqlite, sqlx::Sqlite);
driver!(mysql, sqlx::MySql);
driver!(postgres, sqlx::Postgres);
