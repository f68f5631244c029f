"""Is a judge worth believing? Human labels, the rate corrected by them, agreement, the light, and what follows."""
