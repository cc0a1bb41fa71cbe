/* Memory that SimGrid drops, kept by size for its next objects: a message makes and drops some 35,
 * all ranks at once, while malloc() has 7 blocks of a size at hand. Gains an eighth on a ring of
 * 192 ranks. The results are the same without this file. All blocks are from malloc(), since a
 * program may have other C++ in it; they are kept in a simulation's child alone, of one thread. */
#include <malloc.h>

#include <cstdlib>
#include <new>

#include "simgrid_wait.h"

constexpr std::size_t SIZES = 64; // of up to 1 KiB
/* [usable bytes / 16]: the block dropped last, which points to the one before. */
static void *kept[SIZES];
static bool is_keeping;
bool simgrid_keeps_blocks = true;

void simgrid_keep_blocks(void)
{
    /* Usable are 16 n + 8 bytes with glibc; with those that check memory, as many as asked for. */
    void *const probe = std::malloc(17);
    is_keeping = simgrid_keeps_blocks && malloc_usable_size(probe) == 24;
    std::free(probe);
}

void *operator new(std::size_t bytes)
{
    const std::size_t size = bytes > 24 ? (bytes + 7) / 16 : 1;
    void *block = size < SIZES ? kept[size] : nullptr;
    if (block != nullptr) {
        kept[size] = *static_cast<void **>(block);
    } else if ((block = std::malloc(bytes > 0 ? bytes : 1)) == nullptr) {
        throw std::bad_alloc();
    }
    return block;
}

void operator delete(void *block) noexcept
{
    const std::size_t size = is_keeping ? malloc_usable_size(block) / 16 : SIZES;
    if (block == nullptr || size >= SIZES) {
        std::free(block);
        return;
    }
    *static_cast<void **>(block) = kept[size];
    kept[size] = block;
}

void operator delete(void *block, std::size_t) noexcept
{
    operator delete(block);
}
