//! The promises to other languages: the header and the ABI.

mod abi;
mod header;
