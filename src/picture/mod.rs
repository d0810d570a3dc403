//! Floor 4: from values to colours, and from colours to figures.
