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

/// A part of an array, as a kernel takes its description (`TensorMap` in `kernels/spectral_strips.cu`).
#[repr(C, align(128))]
#[derive(Clone, Copy)]
pub(super) struct TensorMap(CUtensorMap);

/// Values of an array, numbered along three axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Volume {
    pub precision: Precision,
    /// Where the first value lies: at a multiple of 16 bytes.
    pub first: Pointer,
    /// Values along each axis. Those along the first axis lie beside each other.
    pub shape: [u64; 3],
    /// Bytes from a value to the next along the second and the third axis: multiples of 16.
    pub pitches: [u64; 2],
}

impl TensorMap {
    /// Describes values, of which a kernel copies so many along each axis at a time; what lies outside of them is 0.
    ///
    /// # Errors
    /// [`DriverError`] if the driver refuses it.
    pub fn of(volume: Volume, copied: [u32; 3]) -> Result<Self, DriverError> {
        let Volume { precision, first, shape, pitches } = volume;
        let of_values = match precision {
            Precision::F32 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
            Precision::F64 => CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        };
        let mut map = MaybeUninit::uninit();
        // SAFETY: the driver reads three numbers of each array but two of the pitches, and writes the description; it does
        // not read the values.
        unsafe {
            sys::cuTensorMapEncodeTiled(
                map.as_mut_ptr(),
                of_values,
                3,
                first as *mut _,
                shape.as_ptr(),
                pitches.as_ptr(),
                copied.as_ptr(),
                [1, 1, 1].as_ptr(),
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
