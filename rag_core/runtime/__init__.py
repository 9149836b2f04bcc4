"""What runs beside the house's own threads: processes of low priority."""
