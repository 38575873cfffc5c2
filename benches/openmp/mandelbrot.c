/* The Mandelbrot set by Mariani and Silver's subdivision, a task a rectangle: as on the Rust side, see examples/src/mandelbrot. */
#include "common.h"

#define UNKNOWN UINT32_MAX
#define SMALLEST 8

typedef struct {
    double left, top, step;
    uint32_t iterations;
    size_t width;
    uint32_t *image;
} picture;

typedef struct {
    uint32_t x, y, width, height;
} rectangle;

static uint32_t escape(const picture *p, uint32_t x, uint32_t y) {
    double c_re = p->left + p->step * (double)x, c_im = p->top - p->step * (double)y;
    double re = 0, im = 0;
    for (uint32_t iteration = 0; iteration < p->iterations; iteration++) {
        double re_re = re * re, im_im = im * im;
        if (re_re + im_im > 4) return iteration;
        im = 2 * re * im + c_im;
        re = re_re - im_im + c_re;
    }
    return p->iterations;
}

/* The pixel's value, which is computed where it is not known. */
static inline uint32_t look(const picture *p, uint32_t x, uint32_t y) {
    uint32_t *pixel = &p->image[(size_t)y * p->width + x];
    if (*pixel == UNKNOWN) *pixel = escape(p, x, y);
    return *pixel;
}

static void subdivide(const picture *p, rectangle r) {
    uint32_t right = r.x + r.width - 1, lower = r.y + r.height - 1;
    uint32_t least = UINT32_MAX, most = 0;
#define LOOK(x, y)                            \
    do {                                      \
        uint32_t value = look(p, (x), (y));   \
        least = value < least ? value : least; \
        most = value > most ? value : most;   \
    } while (0)
    for (uint32_t x = r.x; x <= right; x++) LOOK(x, r.y);
    for (uint32_t x = r.x; x <= right; x++) LOOK(x, lower);
    for (uint32_t y = r.y; y <= lower; y++) LOOK(r.x, y);
    for (uint32_t y = r.y; y <= lower; y++) LOOK(right, y);
#undef LOOK
    if (least != most && r.width > SMALLEST && r.height > SMALLEST) {
        uint32_t half_width = r.width / 2, half_height = r.height / 2;
        for (uint32_t k = 0; k < 4; k++) {
            rectangle quarter = {
                r.x + k % 2 * half_width,
                r.y + k / 2 * half_height,
                k % 2 ? r.width - half_width : half_width,
                k / 2 ? r.height - half_height : half_height,
            };
#pragma omp task firstprivate(quarter)
            subdivide(p, quarter);
        }
        return;
    }
    for (uint32_t y = r.y + 1; y < lower; y++)
        for (uint32_t x = r.x + 1; x < right; x++) p->image[(size_t)y * p->width + x] = least == most ? least : escape(p, x, y);
}

/* `image` has width × height pixels, at least one, and is drawn `repeats` times. */
uint64_t gridwise_omp_mandelbrot(
    int threads, double left, double top, double step, uint32_t iterations, uint32_t width, uint32_t height, uint64_t repeats,
    uint32_t *image, pin_function pin) {
    picture p = {left, top, step, iterations, width, image};
    rectangle whole = {0, 0, width, height};
    gather_team(threads, pin);
    uint64_t begin = now_ns();
    for (uint64_t repeat = 0; repeat < repeats; repeat++) {
        for (size_t i = 0; i < (size_t)width * height; i++) image[i] = UNKNOWN;
#pragma omp parallel num_threads(threads)
#pragma omp single
        subdivide(&p, whole);
    }
    uint64_t elapsed = now_ns() - begin;
    dismiss_team();
    return elapsed;
}
