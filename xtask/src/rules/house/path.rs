//! What the protocol knows of a path in how many places: the numbers, fields and comparisons of its congestion control
//! and its redundancy. Somebody who changes a rule has to hold these in mind.

use syn::visit::{self, Visit};

use super::shape::lines;
use crate::rules::source::crates::{Crate, Source};

/// Reports them for the protocol's crate.
pub(super) fn figures(crates: &[Crate<'_>], say: &mut impl FnMut(&str, String)) {
    let Some(of) = crates.iter().find(|of| of.name() == "skipstone-proto") else { return };
    for folder in ["congestion", "redundancy"] {
        let mut seen = Seen::default();
        let is_there = |source: &&Source<'_>| source.module.first() == Some(&folder) && !source.is_test;
        for source in of.sources.iter().filter(is_there) {
            // It has been read before, or there would be no crate.
            if let Ok(file) = syn::parse_file(&source.file.text) {
                seen.files += 1;
                seen.visit_file(&file);
            }
        }
        say(&format!("{folder}: files"), seen.files.to_string());
        say(&format!("{folder}: lines"), lines(of.sources.iter().filter(is_there)).to_string());
        say(&format!("{folder}: named constants"), seen.constants.to_string());
        say(&format!("{folder}: numbers in the code besides them"), seen.numbers.to_string());
        say(&format!("{folder}: fields of state"), seen.fields.to_string());
        say(&format!("{folder}: comparisons of a delay"), seen.delays.to_string());
        let gates: Vec<&str> = seen.gates.iter().map(String::as_str).collect();
        say(&format!("{folder}: answers that hold redundancy back"), format!("{} ({})", gates.len(), gates.join(", ")));
    }
}

#[derive(Default)]
struct Seen {
    files: usize,
    constants: usize,
    numbers: usize,
    fields: usize,
    delays: usize,
    gates: Vec<String>,
}

impl<'ast> Visit<'ast> for Seen {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_const(&mut self, constant: &'ast syn::ItemConst) {
        self.constants += usize::from(has_number(&constant.expr));
    }

    fn visit_impl_item_const(&mut self, constant: &'ast syn::ImplItemConst) {
        self.constants += usize::from(has_number(&constant.expr));
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        self.fields += usize::from(field.ident.is_some());
        visit::visit_field(self, field);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        let name = function.sig.ident.to_string();
        let is_asked = matches!(function.vis, syn::Visibility::Public(_)) && function.sig.receiver().is_some();
        if is_asked && GATES.iter().any(|word| name.contains(word)) {
            self.gates.push(name);
        }
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_expr_binary(&mut self, expression: &'ast syn::ExprBinary) {
        use syn::BinOp::{Ge, Gt, Le, Lt};
        if matches!(expression.op, Lt(_) | Le(_) | Gt(_) | Ge(_)) {
            self.delays += usize::from(names_delay(&expression.left) || names_delay(&expression.right));
        }
        visit::visit_expr_binary(self, expression);
    }

    fn visit_lit(&mut self, literal: &'ast syn::Lit) {
        self.numbers += usize::from(is_number(literal));
    }
}

/// Words of the questions that redundancy asks before it sends.
const GATES: [&str; 4] = ["share", "room", "congested", "allowance"];

/// A number that somebody chose: not none, one or two of something, and no change of units.
fn is_number(literal: &syn::Lit) -> bool {
    let digits = match literal {
        syn::Lit::Int(number) => number.base10_digits().to_owned(),
        syn::Lit::Float(number) => number.base10_digits().trim_end_matches('0').trim_end_matches('.').to_owned(),
        _ => return false,
    };
    !["0", "1", "2", "1000", "1000000"].contains(&&*digits)
}

fn has_number(expression: &syn::Expr) -> bool {
    struct Has(bool);
    impl<'ast> Visit<'ast> for Has {
        fn visit_lit(&mut self, literal: &'ast syn::Lit) {
            self.0 |= matches!(literal, syn::Lit::Int(_) | syn::Lit::Float(_));
        }
    }
    let mut has = Has(false);
    has.visit_expr(expression);
    has.0
}

/// Whether the last name of a call, a field or a variable in it says delay.
fn names_delay(expression: &syn::Expr) -> bool {
    struct Named(bool);
    impl<'ast> Visit<'ast> for Named {
        fn visit_ident(&mut self, ident: &'ast proc_macro2::Ident) {
            let name = ident.to_string();
            self.0 |= name == "delay" || name.ends_with("_delay");
        }
    }
    let mut named = Named(false);
    named.visit_expr(expression);
    named.0
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        matches!(&attribute.meta, syn::Meta::List(list) if list.path.is_ident("cfg") && list.tokens.to_string() == "test")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fields_and_comparisons_of_delays_are_counted_outside_tests() {
        let text = "
            const MOST: u32 = 30;
            const ALL: [Rule; 2] = [Rule::A, Rule::B];
            struct Path { queue: Queue, window: u32 }
            impl Path {
                pub fn redundancy_share(&self) -> f32 { 0.25 }
                fn share(&self) -> u64 { self.window * 3 / 2 + 1_000_000 }
                fn has_queue(&self) -> bool { self.queue.delay() > MOST && self.window > 7 }
            }
            #[cfg(test)]
            mod tests { const FEW: u32 = 3; fn f() { assert!(delay > 9); } }
        ";
        let mut seen = Seen::default();
        seen.visit_file(&syn::parse_file(text).expect("it is Rust"));
        assert_eq!((seen.constants, seen.fields, seen.delays), (1, 2, 1));
        assert_eq!(seen.numbers, 3, "0.25, 3 and 7");
        assert_eq!(seen.gates, ["redundancy_share"]);
    }
}
