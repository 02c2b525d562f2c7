//! A universal library for macOS: one file with a library for each CPU, as Apple's `lipo` makes it.

/// CPU type and subtype of each library, and its bytes.
pub(super) fn universal(libraries: &[(u32, u32, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    let count = u32::try_from(libraries.len()).expect("there are two CPUs");
    [MAGIC, count].iter().for_each(|number| file.extend(number.to_be_bytes()));
    let mut at = PAGE;
    for (cpu, subtype, bytes) in libraries {
        let size = u32::try_from(bytes.len()).expect("a library has less than 4 GB");
        [*cpu, *subtype, at, size, PAGE.ilog2()].iter().for_each(|number| file.extend(number.to_be_bytes()));
        at += size.next_multiple_of(PAGE);
    }
    for (_, _, bytes) in libraries {
        file.resize(file.len().next_multiple_of(PAGE as usize), 0);
        file.extend(bytes);
    }
    file
}

const MAGIC: u32 = 0xCAFE_BABE;
/// The system maps each library by pages; those of Apple silicon have 16 KB.
const PAGE: u32 = 1 << 14;
/// Type and subtype (all models) of Apple silicon.
pub(super) const ARM64: (u32, u32) = (0x0100_000C, 0);
/// Type and subtype (all models) of Intel.
pub(super) const X86_64: (u32, u32) = (0x0100_0007, 3);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_library_begins_at_a_page_that_the_header_names() {
        let file = universal(&[(ARM64.0, ARM64.1, vec![1; 20_000]), (X86_64.0, X86_64.1, vec![2; 10])]);
        let number = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().expect("four bytes"));
        assert_eq!((number(0), number(4)), (MAGIC, 2));
        assert_eq!([number(8), number(16), number(20), number(24)], [ARM64.0, 16_384, 20_000, 14]);
        assert_eq!([number(28), number(36), number(40)], [X86_64.0, 49_152, 10]);
        assert_eq!((file[16_384], file[49_152], file.len()), (1, 2, 49_162));
    }
}
