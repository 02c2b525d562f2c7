//! The claims of this crate, one module each.

mod every_language_has_every_item;
mod files_equal_the_generated_ones;
mod shown;
