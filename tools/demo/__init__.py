"""What `make_demo_data.py` writes, one module a dataset. All texts, names, firms and streets are invented."""
