//! The attribute `#[test]` for test programs with their own harness.
//!
//! The built-in harness cannot count a test as skipped once it has started. The test programs of
//! profdb therefore run on `libtest-mimic`, and this attribute registers their functions
//! (`tests/support/harness.rs`).

use proc_macro::{TokenStream, TokenTree};

/// Keeps the function and registers it as a test under its module path.
///
/// The function takes no arguments and returns nothing.
///
/// # Panics
/// If the attribute is not on a function.
#[proc_macro_attribute]
pub fn test(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    let name = function_name(item.clone());
    let conditions = conditions(item.clone());
    let registration = format!(
        "{conditions} ::inventory::submit! {{
            crate::support::harness::Test {{
                name: concat!(module_path!(), \"::{name}\"),
                run: {name},
            }}
        }}"
    );
    let mut tokens = item;
    tokens.extend(
        registration
            .parse::<TokenStream>()
            .expect("the registration is valid Rust"),
    );
    tokens
}

/// Returns the attributes `#[cfg(..)]` of an item, which its registration has, too.
fn conditions(item: TokenStream) -> String {
    let tokens: Vec<String> = item.into_iter().map(|token| token.to_string()).collect();
    let attributes = tokens.windows(2).filter(|pair| pair[0] == "#");
    attributes
        .filter(|pair| pair[1].replace(' ', "").starts_with("[cfg("))
        .map(<[String]>::concat)
        .collect()
}

/// Returns the identifier after the first `fn`.
fn function_name(item: TokenStream) -> String {
    item.into_iter()
        .skip_while(|token| !matches!(token, TokenTree::Ident(word) if word.to_string() == "fn"))
        .nth(1)
        .expect("`#[test]` stands on a function")
        .to_string()
}
