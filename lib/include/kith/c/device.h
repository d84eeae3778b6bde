// Lists devices, opens one as a handle, and describes rows in the caller's memory.
#ifndef KITH_C_DEVICE_H
#define KITH_C_DEVICE_H

#include "kith/c/base.h"

KITH_C_BEGIN

/// values of kith_rows.element
enum {
  KITH_F32 = 0,
  KITH_F16 = 1,
  KITH_BF16 = 2,
  KITH_U8 = 3,
  KITH_I8 = 4,
  KITH_BITS = 5,
  KITH_F64 = 6,
  KITH_I32 = 7,
  KITH_U32 = 8,
  KITH_I64 = 9
};
/// values of kith_rows.where
enum { KITH_HOST = 0, KITH_CUDA = 1, KITH_OPENCL = 2 };

/// Describes rows in the caller's memory, at any address. Every value of KITH_F16, KITH_BF16, KITH_U8 and
/// KITH_I8 is a float32, and gives the same answers as that; KITH_BITS has 8 columns per byte, high bit
/// first, and is for metrics of bits alone. KITH_F64 is for a kith_preparation, for an index that has a
/// centre, and for an index in double precision, which takes all elements but KITH_BITS. KITH_I32, KITH_U32
/// and KITH_I64 (from -2^53 to 2^53) are for such an index alone. Rows on KITH_CUDA
/// and KITH_OPENCL must be on the device that takes them: as training rows, as rows that are added, and as
/// queries of a search by k; every other call returns KITH_UNSUPPORTED.
typedef struct kith_rows {
  uint64_t size;
  const void* data;      ///< host address, CUDA device address, or cl_mem
  int64_t rows;          ///< 0 or more
  int64_t cols;          ///< for KITH_BITS the number of bits
  int64_t stride_bytes;  ///< bytes from one row to the next; 0: no gaps
  int64_t offset_bytes;  ///< bytes from `data` to the first element
  int32_t element;       ///< KITH_F32, ...
  int32_t where;         ///< KITH_HOST, ...
  void* stream;          ///< CUDA stream or OpenCL queue whose work comes first; NULL for KITH_HOST
} kith_rows;

typedef struct kith_inventory kith_inventory;
typedef struct kith_device kith_device;

/// Describes a device. Texts belong to the handle that gave them.
typedef struct kith_device_info {
  uint64_t size;
  const char* spec;       ///< what kith_device_open() takes: `cpu`, `cuda:0`, `opencl:1`
  const char* backend;    ///< `cpu`, `opencl`, `cuda`
  const char* name;       ///< from its driver
  const char* platform;   ///< `NVIDIA CUDA`, `Portable Computing Language`, `host threads`, ...
  const char* driver;     ///< version of driver or instruction set in use
  const char* kind;       ///< `cpu`, `gpu`, `accelerator`
  const char* pci;        ///< address, `0000:3b:00.0`; empty: unknown, or it has none
  const char* selectors;  ///< its selectors, with commas between
  const char* proposers;  ///< its proposers besides `none`, with commas between; their library may be missing
  uint64_t memory_bytes;  ///< device memory
  uint64_t largest_allocation_bytes;  ///< largest single block of it
  uint32_t compute_units;             ///< cores or multiprocessors
  uint32_t fused_max_k;               ///< largest k of the fused step `nearest`; 0: it has none
} kith_device_info;

/// Find every back end and device here, which starts their drivers. Free by kith_inventory_free().
KITH_C_API kith_status kith_inventory_new(kith_inventory** out);
KITH_C_API void kith_inventory_free(kith_inventory* inventory);
/// Count, and describe, the devices of all back ends.
KITH_C_API kith_status kith_inventory_device_count(const kith_inventory* inventory, int64_t* count);
KITH_C_API kith_status kith_inventory_device(const kith_inventory* inventory, int64_t number,
                                             kith_device_info* info);
KITH_C_API kith_status kith_inventory_backend_count(const kith_inventory* inventory, int64_t* count);
/// Name a back end, and say why it has no devices; `reason` is empty if it has some.
KITH_C_API kith_status kith_inventory_backend(const kith_inventory* inventory, int64_t number,
                                              const char** name, const char** reason);
KITH_C_API kith_status kith_inventory_warning_count(const kith_inventory* inventory, int64_t* count);
/// Get a sentence for each plug-in file and driver that could not be used, and for each tuning file that
/// is ignored.
KITH_C_API kith_status kith_inventory_warning(const kith_inventory* inventory, int64_t number,
                                              const char** sentence);

/// Open a device, and test that it is exact. Free by kith_device_free(), before the program ends.
///   spec  `auto` or NULL (a CUDA device, else a GPU by OpenCL, else the CPU), `gpu` (the same, but never
///         the CPU), `cpu`, `cuda`, `cuda:1`, `opencl:0` (n-th OpenCL device), `opencl:nvidia` (part of the
///         name of device or platform, in any case)
/// KITH_INVALID_ARGUMENT: the spec names no back end.
/// KITH_UNAVAILABLE: no such device here (says why), it failed its self-test, or its driver was started
/// before this process was forked.
KITH_C_API kith_status kith_device_open(const char* spec, kith_device** out);
/// Open a device of OpenCL in the caller's context, so that rows and answers may be in buffers of that
/// context. kith keeps the context, and works in a queue of its own.
///   context, device, queue  cl_context, cl_device_id and cl_command_queue; rows and answers without a stream
///                           wait for the queue, which may be NULL
/// Fails as kith_device_open() does, and with KITH_UNSUPPORTED if these do not belong together, or the device
/// is a part of one.
KITH_C_API kith_status kith_device_adopt_opencl(void* context, void* device, void* queue, kith_device** out);
KITH_C_API void kith_device_free(kith_device* device);
KITH_C_API kith_status kith_device_describe(const kith_device* device, kith_device_info* info);

KITH_C_END

#endif
