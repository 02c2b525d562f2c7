//! Every pair and every triple of elements satisfies the axioms of a field; the product equals the product of
//! polynomials.

use skipstone_gf256::{inverse, mul};

const ALL: std::ops::RangeInclusive<u8> = 0..=255;

#[test]
fn products_match_polynomials_modulo_0x11d() {
    for a in ALL {
        for b in ALL {
            assert_eq!(mul(a, b), long_product(a, b), "{a} times {b}");
        }
    }
}

/// Schoolbook multiplication: shift, add, reduce.
fn long_product(a: u8, b: u8) -> u8 {
    let mut product = (0..8).filter(|bit| b >> bit & 1 == 1).fold(0_u32, |sum, bit| sum ^ u32::from(a) << bit);
    for bit in (8..16).rev() {
        if product >> bit & 1 == 1 {
            product ^= 0x11D << (bit - 8);
        }
    }
    u8::try_from(product).expect("reduced to eight bits")
}

#[test]
fn multiplication_commutes_and_has_1_as_neutral_and_0_as_absorbing_element() {
    for a in ALL {
        assert_eq!((mul(a, 1), mul(a, 0)), (a, 0));
        for b in ALL {
            assert_eq!(mul(a, b), mul(b, a));
            assert_eq!(mul(a, b) == 0, a == 0 || b == 0, "{a} times {b}");
        }
    }
}

#[test]
fn multiplication_is_associative_and_distributes_over_addition() {
    for a in ALL {
        for b in ALL {
            for c in ALL {
                assert_eq!(mul(mul(a, b), c), mul(a, mul(b, c)));
                assert_eq!(mul(a, b ^ c), mul(a, b) ^ mul(a, c));
            }
        }
    }
}

#[test]
fn every_element_but_0_has_an_inverse() {
    assert_eq!(inverse(0), None);
    for a in 1..=255 {
        let inverted = inverse(a).expect("only 0 has none");
        assert_eq!(mul(a, inverted), 1, "{a} times {inverted}");
    }
}

#[test]
fn products_and_inverses_are_constant_expressions() {
    const PRODUCT: u8 = mul(0x80, 2);
    const INVERSE: Option<u8> = inverse(2);
    assert_eq!((PRODUCT, INVERSE), (0x1D, Some(0x8E)));
}
