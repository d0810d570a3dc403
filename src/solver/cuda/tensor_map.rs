//! Descriptions of arrays for the tensor memory accelerator of GPUs of compute capability 9.0 and newer, which copies parts of
//! them to shared memory.

use super::arguments::Pointer;
use crate::grid::Precision;
use cudarc::driver::DriverError;
use cudarc::driver::sys::{
    self, CUtensorMap, CUtensorMapDataType, CUtensorMapFloatOOBfill, CUtensorMapInterleave,
    CUtensorMapL2promotion, CUtensorMapSwizzle,
};
use std::mem::MaybeUninit;

/// Rows of an array, as a kernel takes their description (`TensorMap` in `kernels/spectral_strips.cu`).
#[repr(C, align(128))]
#[derive(Clone, Copy)]
pub(super) struct TensorMap(CUtensorMap);

/// Rows of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub precision: Precision,
    /// Where the first value lies: at a multiple of 16 bytes.
    pub first: Pointer,
    /// Values of a row, and rows.
    pub shape: [u64; 2],
    /// Bytes from a row to the next: a multiple of 16.
    pub pitch: u64,
}

impl TensorMap {
    /// Describes rows, of which a kernel copies so many columns and rows at a time; what lies outside of them is 0.
    ///
    /// # Errors
    /// [`DriverError`] if the driver refuses it.
    pub fn of(rows: Rows, copied: [u32; 2]) -> Result<Self, DriverError> {
        let Rows { precision, first, shape, pitch } = rows;
        let of_values = match precision {
            Precision::F32 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            Precision::F64 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        };
        let mut map = MaybeUninit::uninit();
        // SAFETY: the driver reads two numbers of each array but one of the distance between rows, and writes the
        // description; it does not read the array.
        unsafe {
            sys::cuTensorMapEncodeTiled(
                map.as_mut_ptr(),
                of_values,
                2,
                first as *mut _,
                shape.as_ptr(),
                &raw const pitch,
                copied.as_ptr(),
                [1, 1].as_ptr(),
                CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_NONE,
                CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
            .result()?;
            Ok(Self(map.assume_init()))
        }
    }
}
